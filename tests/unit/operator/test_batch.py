"""The end of a batch, as a table: the state of Job and pods, and the reported status."""

from __future__ import annotations

import pytest

from modelexport_api.reasons import ExitCode, Reason
from modelexport_api.status import Stage
from modelexport_operator.decide import decide
from modelexport_operator.decisions import CreateJob, Decision, StopJob
from modelexport_operator.observe import Observation, ObservedJob
from modelexport_operator.pods import ObservedPod
from unit.operator.objects import (
    BATCH,
    RESULTS,
    SETTINGS,
    at,
    batch_job,
    ended,
    failure,
    of_index,
    own_conditions,
    resource,
    result_of,
    running,
    share,
    terminated,
    waiting,
)

INDEX = "s3://models/onnx/batches/x/index.html"
DONE = batch_job({**ended("Complete"), "succeeded": 2, "completedIndexes": "0,1"})
ABANDONED = batch_job({**ended("Failed", "FailedIndexes"), "failedIndexes": "0"})
ALL_ABANDONED = batch_job({**ended("Failed", "FailedIndexes"), "failedIndexes": "0,1"})
WRONG = batch_job(ended("Failed", "PodFailurePolicy"))

Pods = tuple[ObservedPod, ...]
FIRST = of_index(0, terminated(0, result_of(share(0, 3))))
SECOND = of_index(1, terminated(0, result_of(share(1, 2))))
ONE_FAILED = of_index(0, terminated(0, result_of(share(0, 2, failed=1))))
KILLED = of_index(0, terminated(137, reason="OOMKilled"), share(0, 1, running=1))


def decided(found: ObservedJob, pods: Pods, **spec: object) -> Decision:
    return decide(Observation(resource({**BATCH, **spec}), found, pods), at(60), SETTINGS)


ENDS: list[tuple[str, ObservedJob, Pods, int, str, tuple[int, int]]] = [
    ("all published", DONE, (FIRST, SECOND), 0, "Published", (5, 0)),
    ("one may fail", DONE, (ONE_FAILED, SECOND), 1, "PartiallyPublished", (4, 1)),
    ("one failed too many", DONE, (ONE_FAILED, SECOND), 0, "TooManyFailed", (4, 1)),
    ("an abandoned share", ABANDONED, (KILLED, SECOND), 1, "TooManyFailed", (3, 2)),
    ("an abandoned share is allowed", ABANDONED, (KILLED, SECOND), 2, "PartiallyPublished", (3, 2)),
    ("all may fail", ALL_ABANDONED, (KILLED,), 5, "PartiallyPublished", (1, 4)),
]


@pytest.mark.parametrize(
    ("found", "pods", "allowed", "reason", "counts"),
    [row[1:] for row in ENDS],
    ids=[row[0] for row in ENDS],
)
def test_final_status(
    found: ObservedJob, pods: Pods, allowed: int, reason: str, counts: tuple[int, int]
) -> None:
    status = decided(found, pods, maxFailed=allowed).status
    assert status is not None
    last = status.conditions[-1]
    assert last.reason == reason
    assert status.items is not None
    assert (status.items.succeeded, status.items.failed) == counts
    assert status.items.total == sum(counts)
    assert status.completion_time == at(60)
    if reason == "TooManyFailed":
        assert (status.phase, last.type) == ("Failed", "Failed")
        assert status.failure is not None
        assert f"{counts[1]} of 5 checkpoints failed" in status.failure.message
        assert f"spec.maxFailed is {allowed}" in status.failure.message
        assert RESULTS in status.failure.message
    else:
        assert (status.phase, last.type) == ("Succeeded", "Complete")
        assert f"{counts[0]} of 5 checkpoints" in last.message


def test_conditions_of_a_partial_success_contain_the_counts() -> None:
    status = decided(DONE, (ONE_FAILED, SECOND), maxFailed=1).status
    assert status is not None
    assert {c.type: (c.status, c.reason) for c in own_conditions(status)} == {
        "Scheduled": ("True", "Scheduled"),
        "Exported": ("True", "PartiallyExported"),
        "Verified": ("True", "PartiallyVerified"),
        "Published": ("True", "PartiallyPublished"),
        "Complete": ("True", "PartiallyPublished"),
    }
    assert status.report_uri == INDEX


def test_too_many_failures_name_an_example_and_the_results_manifest() -> None:
    status = decided(DONE, (ONE_FAILED, SECOND)).status
    assert status is not None
    assert status.failure is not None
    assert "(CheckpointCorrupt 1)" in status.failure.message
    assert "for example fold-3.pt: CheckpointCorrupt: no zip file" in status.failure.message
    assert INDEX in status.failure.hint
    assert status.report_uri == INDEX


def test_an_abandoned_share_is_the_example_if_there_is_no_other() -> None:
    status = decided(ABANDONED, (KILLED, SECOND)).status
    assert status is not None
    assert status.failure is not None
    assert "share 0, whose last pod ended with: the kernel killed" in status.failure.message


WHOLE: list[tuple[str, ObservedJob, Pods, str]] = [
    (
        "nothing matched",
        WRONG,
        (of_index(0, terminated(11, failure(Reason.NOTHING_MATCHED, Stage.FETCH))),),
        "NothingMatched",
    ),
    (
        "no pod listed the checkpoints",
        ALL_ABANDONED,
        (of_index(0, terminated(75, failure(Reason.STORE_UNAVAILABLE, Stage.FETCH))),),
        "RetriesExhausted",
    ),
    ("too late", batch_job(ended("Failed", "DeadlineExceeded")), (KILLED,), "DeadlineExceeded"),
]


@pytest.mark.parametrize(
    ("found", "pods", "reason"), [row[1:] for row in WHOLE], ids=[row[0] for row in WHOLE]
)
def test_a_failure_of_the_whole_batch(found: ObservedJob, pods: Pods, reason: str) -> None:
    status = decided(found, pods).status
    assert status is not None
    assert status.failure is not None
    assert status.failure.reason == reason


def test_a_batch_that_was_stopped_keeps_its_counts() -> None:
    late = batch_job(ended("Failed", "DeadlineExceeded"))
    status = decided(late, (KILLED, SECOND)).status
    assert status is not None
    assert status.items is not None
    assert (status.items.succeeded, status.items.failed, status.items.running) == (3, 0, 0)
    assert status.report_uri == INDEX


def test_stored_counts_are_kept_after_their_pods_are_deleted() -> None:
    live = {"items": {"total": 5, "succeeded": 4, "running": 1}}
    late = batch_job(ended("Failed", "DeadlineExceeded"))
    status = decide(Observation(resource(BATCH, live), late, (KILLED,)), at(60), SETTINGS).status
    assert status is not None
    assert status.items is not None
    assert (status.items.succeeded, status.items.running) == (4, 0)


@pytest.mark.parametrize("found", [DONE, ABANDONED], ids=["complete", "with failed indexes"])
def test_after_a_lost_result_the_job_runs_again(found: ObservedJob) -> None:
    decision = decided(found, (KILLED,))
    assert isinstance(decision.action, CreateJob)
    assert decision.action.manifest["metadata"]["name"].endswith("-2")
    assert [event.reason for event in decision.events] == ["ResultLost"]


def test_a_result_lost_twice_is_a_failure() -> None:
    again = batch_job({**ended("Complete"), "completedIndexes": "0,1"}, run=2)
    status = decided(again, (FIRST,)).status
    assert status is not None
    assert status.failure is not None
    assert status.failure.reason == Reason.RESULT_LOST


OTHERS_CONTINUE: list[tuple[str, Pods]] = [
    ("killed for its memory", (KILLED, of_index(1, running()))),
    ("cannot start on its node", (of_index(0, waiting("ErrImagePull")), of_index(1, running()))),
    ("its command is missing", (of_index(0, terminated(128, reason="StartError")), SECOND)),
]


@pytest.mark.parametrize(
    "pods", [row[1] for row in OTHERS_CONTINUE], ids=[r[0] for r in OTHERS_CONTINUE]
)
def test_the_failure_of_one_pod_never_stops_the_others(pods: Pods) -> None:
    assert decided(batch_job(), pods).action is None


def test_a_batch_is_stopped_if_no_pod_can_start() -> None:
    stuck = (of_index(0, terminated(128, reason="StartError")), of_index(1, waiting("Creating")))
    assert isinstance(decided(batch_job(), stuck).action, StopJob)


def test_a_batch_in_mode_verify_reports_verified() -> None:
    status = decided(DONE, (ONE_FAILED, SECOND), maxFailed=1, mode="Verify").status
    assert status is not None
    assert status.conditions[-1].reason == "PartiallyVerified"


def test_a_share_is_finished_only_by_a_pod_that_succeeded() -> None:
    """A pod that reported all counts and then failed is retried."""
    pods = (of_index(0, terminated(ExitCode.RETRYABLE, result_of(share(0, 3)))), SECOND)
    assert isinstance(decided(DONE, pods).action, CreateJob)
