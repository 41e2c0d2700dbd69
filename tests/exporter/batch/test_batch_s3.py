"""Batches on a real S3 server that misbehaves: it throttles, and objects change under our hands."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest
from botocore.retries.standard import ExponentialBackoff

from batch_workers import PRELOAD, SETTINGS
from batches import OneByOne, batch
from bed.s3 import S3Server
from modelexport_api.items import ShareCounts
from modelexport_api.pod import PodResult
from modelexport_api.reasons import ExitCode, Reason
from modelexport_api.resource import ModelExport
from modelexport_exporter.batch import loop as loops
from modelexport_exporter.batch.plan import directory_of
from modelexport_exporter.batch.results import Results
from modelexport_exporter.batch.run import Part, run_share
from modelexport_exporter.core.log import JsonLog
from modelexport_exporter.pipeline.context import Settings
from throttling import Throttle, throttling

pytestmark = pytest.mark.s3

CLIENT_TRIES = 6
"""How often boto3 makes a request that is turned away, as the store configures it."""


@dataclass
class Bucket:
    """A bucket of four checkpoints behind a proxy, and a batch over them."""

    server: S3Server
    name: str
    proxy: Throttle
    tmp_path: Path
    log: Path

    def put(self, key: str, content: str) -> None:
        self.server.client().put_object(Bucket=self.name, Key=key, Body=content.encode())

    def resource(self, **spec: Any) -> ModelExport:  # noqa: ANN401
        return batch(
            {"uri": f"s3://{self.name}/run/*.pt"},
            f"s3://{self.name}/onnx/{{stem}}/",
            storage={"endpoint": self.proxy.endpoint},
            model={"factory": "small:build", "kwargs": {"log": str(self.log)}},
            verification={"benchmark": False},
            **spec,
        )

    def run(self, resource: ModelExport | None = None) -> PodResult:
        settings = Settings(self.tmp_path / "work", **SETTINGS, preload=PRELOAD)
        log = JsonLog(sys.stderr)
        return run_share(resource or self.resource(), settings, log, Part(), OneByOne).result

    def results(self) -> Results:
        where = directory_of(self.resource()).child("results.json")
        answer = where.store.read(where.key)
        assert answer is not None
        return Results.model_validate_json(answer[0])


@pytest.fixture
def stored(
    s3: S3Server,
    bucket: str,
    tmp_path: Path,
    workers_log: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[Bucket]:
    for name in [name for name in os.environ if name.startswith("AWS_")]:
        monkeypatch.delenv(name)
    for name, value in s3.environment().items():
        if name != "AWS_ENDPOINT_URL_S3":
            monkeypatch.setenv(name, value)
    monkeypatch.setattr(loops, "retry_delay", lambda _attempt, _spread: 0.1)
    monkeypatch.setattr(ExponentialBackoff, "delay_amount", lambda _self, _context: 0.01)
    with throttling(s3.endpoint) as proxy:
        made = Bucket(s3, bucket, proxy, tmp_path, workers_log)
        for name in "abcd":
            made.put(f"run/{name}.pt", name)
        yield made


def counts(result: PodResult) -> ShareCounts:
    assert result.share is not None
    return result.share


def test_a_bucket_that_throttles_for_a_while_costs_nothing_but_time(stored: Bucket) -> None:
    left = {"count": 6}

    def turns_away(_method: str, _path: str) -> bool:
        left["count"] -= 1
        return left["count"] % 2 == 0 and left["count"] > -12

    stored.proxy.turns_away = turns_away
    assert counts(stored.run()).succeeded == 4
    assert len(stored.proxy.turned_away) > 3


def test_a_throttled_object_is_one_typed_failure_after_bounded_retries(stored: Bucket) -> None:
    key = f"/{stored.name}/run/b.pt"
    stored.proxy.turns_away = lambda method, path: method == "GET" and unquote(path) == key
    result = stored.run()
    assert result.exit_code is ExitCode.DONE
    assert counts(result).reasons == {"StoreUnavailable": 1}
    [a, b, c, d] = stored.results().items
    assert [a.outcome, c.outcome, d.outcome] == ["Succeeded"] * 3
    assert b.reason is Reason.STORE_UNAVAILABLE
    assert "SlowDown" in b.message
    assert b.attempts == 3
    assert len(stored.proxy.turned_away) == 3 * CLIENT_TRIES, "attempts × requests of the client"


def test_a_store_that_is_gone_when_the_batch_begins_is_tried_again_by_the_job(
    stored: Bucket,
) -> None:
    stored.proxy.turns_away = lambda _method, _path: True
    result = stored.run()
    assert result.exit_code is ExitCode.RETRYABLE
    assert result.failure is not None
    assert result.failure.reason is Reason.STORE_UNAVAILABLE


def test_an_object_that_changes_once_is_exported_as_it_is_then(stored: Bucket) -> None:
    """It is replaced after it was looked at and before it is read: If-Match refuses the rest."""
    replaced: list[str] = []

    def replaces(method: str, path: str) -> bool:
        if method == "GET" and path.endswith("/run/b.pt") and not replaced:
            replaced.append("new")
            stored.put("run/b.pt", "new")
        return False

    stored.proxy.turns_away = replaces
    assert counts(stored.run()).succeeded == 4
    assert stored.results().items[1].attempts == 2
    exported = stored.log.read_text().split()
    assert exported == ["a", "new", "c", "d"]


def test_an_object_that_changes_all_the_time_is_one_typed_failure(stored: Bucket) -> None:
    versions: list[str] = []

    def replaces(method: str, path: str) -> bool:
        if method == "GET" and path.endswith("/run/b.pt"):
            versions.append(f"version {len(versions)}")
            stored.put("run/b.pt", versions[-1])
        return False

    stored.proxy.turns_away = replaces
    assert counts(stored.run()).reasons == {"SourceChanged": 1}
    assert len(versions) == 3, "one for each attempt: a changed object is not asked for again"
    b = stored.results().items[1]
    assert "was replaced while it was read" in b.message


def test_a_throttled_journal_hinders_nothing(stored: Bucket) -> None:
    def turns_away(method: str, path: str) -> bool:
        refused = len(stored.proxy.turned_away)
        return method == "PUT" and path.endswith("0.begun") and refused < CLIENT_TRIES

    stored.proxy.turns_away = turns_away
    assert counts(stored.run()).succeeded == 4
    assert len(stored.proxy.turned_away) == CLIENT_TRIES, "one marker is given up"


def test_a_destination_that_refuses_is_found_before_any_work(stored: Bucket) -> None:
    resource = stored.resource()
    elsewhere = resource.spec.destination.model_copy(
        update={"uri": "s3://no-such-bucket-here/{stem}/"}
    )
    spec = resource.spec.model_copy(update={"destination": elsewhere})
    result = stored.run(resource.model_copy(update={"spec": spec}))
    assert result.failure is not None
    assert result.failure.reason is Reason.DESTINATION_DENIED
    assert not stored.log.exists()
