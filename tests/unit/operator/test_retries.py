"""Which failures are retried, and the messages about it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from modelexport_api.reasons import Reason
from modelexport_api.status import Stage
from modelexport_operator import pods, retries
from modelexport_operator.decide import decide
from modelexport_operator.observe import Observation, ObservedJob
from modelexport_operator.pods import ObservedPod
from unit.operator.objects import (
    BATCH,
    SETTINGS,
    SUCCESS,
    at,
    batch_job,
    ended,
    failure,
    job,
    of_index,
    pod_body,
    resource,
    running,
    terminated,
)

UNREACHABLE = terminated(75, failure(Reason.STORE_UNAVAILABLE, Stage.FETCH))
DRAINED = replace(terminated(75, failure(Reason.INTERRUPTED, Stage.VERIFY)), disrupted=True)
TWICE = job({"active": 1, "failed": 2})


def rejected() -> ObservedPod:
    body = pod_body(phase="Failed", nodeName="node-1")
    body["status"] |= {"reason": "UnexpectedAdmissionError", "message": "no healthy devices"}
    return pods.observe_pod(body)


ROWS: list[tuple[str, ObservedJob, tuple[ObservedPod, ...], str | None]] = [
    ("first try", job(), (running(),), None),
    (
        "an unreachable store",
        job(),
        (UNREACHABLE, running()),
        "attempt 2 of 4: StoreUnavailable: found this, expected that",
    ),
    ("for the second time", TWICE, (UNREACHABLE, running()), "attempt 3 of 4: StoreUnavailable: "),
    ("killed", job(), (terminated(137),), "attempt 2 of 4: PodKilled: exit code 137 (SIGKILL"),
    (
        "no device left for the pod",
        job(),
        (rejected(),),
        "attempt 2 of 4: UnexpectedAdmissionError: ",
    ),
    ("a drained node does not count", job(), (DRAINED,), "attempt 1 of 4: Interrupted: "),
    ("a user error is not retried", job(), (terminated(12),), None),
    ("retries exhausted", job({"failed": 4}), (UNREACHABLE,), None),
    ("it has ended", job(ended("Failed")), (UNREACHABLE,), None),
    (
        "each share of a batch separately",
        batch_job({"failed": 9}),
        (of_index(1, UNREACHABLE, before=1), of_index(0, running())),
        "share 1, attempt 3 of 4: StoreUnavailable: ",
    ),
    (
        "a share that succeeded later",
        batch_job(),
        (of_index(1, UNREACHABLE), of_index(1, terminated(0, SUCCESS), before=1)),
        None,
    ),
    (
        "an abandoned share",
        batch_job({"failedIndexes": "1"}),
        (of_index(1, UNREACHABLE, before=3),),
        None,
    ),
]


@pytest.mark.parametrize(
    ("found", "seen", "words"), [row[1:] for row in ROWS], ids=[row[0] for row in ROWS]
)
def test_a_retry(found: ObservedJob, seen: tuple[ObservedPod, ...], words: str | None) -> None:
    retry = retries.latest(Observation(resource(), found, seen))
    assert (retry is None) == (words is None)
    if words is not None:
        assert str(retry).startswith(words)


@pytest.mark.parametrize(
    ("seen", "reason"),
    [((UNREACHABLE,), "Retrying"), ((UNREACHABLE, running()), "Running")],
    ids=["waiting", "running again"],
)
def test_the_condition_contains_the_retry(seen: tuple[ObservedPod, ...], reason: str) -> None:
    decision = decide(Observation(resource(), job(), seen), at(60), SETTINGS)
    assert decision.status is not None
    exported = next(c for c in decision.status.conditions if c.type == "Exported")
    assert (exported.status, exported.reason) == ("Unknown", reason)
    assert exported.message.startswith("attempt 2 of 4: StoreUnavailable: ")
    assert [(e.type, e.reason) for e in decision.events] == [("Warning", "Retrying")]


def test_a_disruption_has_an_event_and_is_not_an_attempt() -> None:
    decision = decide(Observation(resource(), job(), (DRAINED, running())), at(60), SETTINGS)
    assert [(e.type, e.reason) for e in decision.events] == [("Normal", "Rescheduled")]
    assert decision.status is not None
    exported = next(c for c in decision.status.conditions if c.type == "Exported")
    assert exported.message == ""


def test_a_batch_reports_its_last_retry() -> None:
    first = of_index(0, replace(UNREACHABLE, terminated=None, phase="Failed", created=at(1)))
    second = of_index(1, replace(UNREACHABLE, terminated=None, phase="Failed", created=at(2)))
    retry = retries.latest(Observation(resource(BATCH), batch_job(), (second, first)))
    assert retry is not None
    assert retry.share == 1
