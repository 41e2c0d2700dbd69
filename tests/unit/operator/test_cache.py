"""What the cache keeps, and what it ignores."""

from __future__ import annotations

import pytest

from modelexport_operator.cache import SPEC_BYTES, Cache, Identity
from unit.operator.objects import UID, Object, ended, export_body, job_body

COMPLETE = {
    "phase": "Succeeded",
    "observedGeneration": 1,
    "conditions": [
        {
            "type": "Complete",
            "status": "True",
            "reason": "Published",
            "lastTransitionTime": "2026-05-01T12:00:00Z",
        }
    ],
}


@pytest.mark.parametrize(("version", "news"), [("9", False), ("10", False), ("11", True)])
def test_an_older_version_never_replaces_a_newer_one(version: str, news: bool) -> None:
    cache = Cache()
    assert cache.put_resource(export_body(resourceVersion="10"))
    assert cache.put_resource(export_body(resourceVersion=version)) == news


def test_a_finished_export_is_cached_without_its_spec() -> None:
    cache = Cache()
    cache.put_resource(export_body(spec={"model": {"factory": "a:b"}}, status=COMPLETE))
    found = cache.resource(UID)
    assert found is not None
    assert found.terminal
    assert found.export is None
    assert cache.live() == []
    assert cache.phases() == {"Succeeded": 1}


def test_a_finished_export_is_cached_with_its_ttl() -> None:
    cache = Cache()
    cache.put_resource(export_body(spec={"ttlSecondsAfterFinished": 60}, status=COMPLETE))
    found = cache.resource(UID)
    assert found is not None
    assert found.ttl_seconds == 60
    assert found.ended_at is not None
    assert cache.live() == [UID]


@pytest.mark.parametrize(
    ("status", "generation", "live"),
    [({"active": 1}, 1, True), (ended("Failed"), 1, False), (ended("Failed"), 2, True)],
    ids=["its Job is running", "settled", "a generation was not observed"],
)
def test_a_finished_export_is_live_until_it_is_settled(
    status: Object, generation: int, live: bool
) -> None:
    cache = Cache()
    cache.put_resource(export_body(status=COMPLETE, generation=generation))
    cache.put_job(job_body(status))
    assert cache.live() == ([UID] if live else [])


def test_a_large_spec_is_not_cached_until_its_export_has_finished() -> None:
    cache = Cache()
    cache.put_resource(export_body(spec={"model": {"factory": "a" * SPEC_BYTES}}))
    assert cache.resource(UID) is None
    assert cache.identity(UID) == Identity("ml", "digits", UID, 1)
    assert cache.live() == [UID]
    body = export_body(spec={"model": {"factory": "a" * SPEC_BYTES}}, status=COMPLETE)
    body["metadata"]["resourceVersion"] = "11"
    cache.put_resource(body)
    found = cache.resource(UID)
    assert found is not None
    assert found.terminal


def test_only_labels_for_the_job_are_cached() -> None:
    cache = Cache()
    labels = {"kueue.x-k8s.io/queue-name": "gpu", "team": "vision"}
    cache.put_resource(export_body(labels=labels))
    found = cache.resource(UID)
    assert found is not None
    assert found.export is not None
    assert found.export.metadata.labels == {"kueue.x-k8s.io/queue-name": "gpu"}


def test_the_job_of_an_export_is_that_of_the_last_run() -> None:
    cache = Cache()
    for run in (2, 1):
        assert cache.put_job(job_body(run=run)) == UID
    found = cache.job_of(UID)
    assert found is not None
    assert found.run == 2
    cache.drop_job(job_body(run=2))
    found = cache.job_of(UID)
    assert found is not None
    assert found.run == 1


def test_owner_references_from_other_namespaces_are_ignored() -> None:
    cache = Cache()
    cache.put_resource(export_body())
    forged = job_body(run=9)
    forged["metadata"] |= {"namespace": "elsewhere", "uid": "forged"}
    cache.put_job(job_body())
    cache.put_job(forged)
    found = cache.job_of(UID)
    assert found is not None
    assert found.namespace == "ml"


def test_exports_missing_in_a_complete_list_are_removed() -> None:
    cache = Cache()
    cache.put_resource(export_body(uid="deleted", resourceVersion="5"))
    cache.put_resource(export_body(uid="listed", resourceVersion="6"))
    cache.put_resource(export_body(uid="created since", resourceVersion="9"))
    cache.put_resource(export_body(uid="elsewhere", namespace="other", resourceVersion="5"))
    assert cache.keep_resources({"listed"}, "8", "ml") == {"deleted"}
    assert set(cache.live()) == {"listed", "created since", "elsewhere"}


def test_the_export_of_a_missing_job_is_reconciled() -> None:
    cache = Cache()
    cache.put_job(job_body())
    assert cache.keep_jobs(set(), "30", None) == {UID}
    assert cache.job_of(UID) is None
