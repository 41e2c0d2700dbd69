"""When waiting ends."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from modelexport_api.reasons import Reason
from modelexport_operator import deadlines
from modelexport_operator.decide import decide
from modelexport_operator.decisions import CreateJob
from modelexport_operator.observe import Observation
from unit.operator.objects import (
    NOW,
    SETTINGS,
    Object,
    at,
    ended,
    job,
    pod,
    resource,
    running,
    terminated,
    wire_time,
)

LIMIT: Object = {"pendingDeadlineSeconds": 100}
QUEUED = replace(job(), suspended=True, queue="gpu")
STARTED: Object = {"startTime": wire_time(NOW)}

ROWS: list[tuple[str, Observation, bool]] = [
    ("waits for a node", Observation(resource(LIMIT), job(), (pod(),)), True),
    ("waits for a pod", Observation(resource(LIMIT), job()), True),
    ("waits in a queue", Observation(resource(LIMIT), QUEUED), True),
    ("may wait for ever", Observation(resource(), job(), (pod(),)), False),
    ("has no Job: it is suspended", Observation(resource(LIMIT)), False),
    ("runs", Observation(resource(LIMIT), job(), (running(),)), False),
    ("ran, and is evicted", Observation(resource(LIMIT, STARTED), QUEUED), False),
    ("ran, and is retried", Observation(resource(LIMIT), job(), (terminated(137),)), False),
    ("ran, its pods are gone", Observation(resource(LIMIT), job({"failed": 1})), False),
]


@pytest.mark.parametrize(("seen", "waits"), [row[1:] for row in ROWS], ids=[r[0] for r in ROWS])
def test_only_what_never_started_is_pending(seen: Observation, waits: bool) -> None:
    assert deadlines.pending_until(seen) == (at(100) if waits else None)
    assert (deadlines.pending_exceeded(seen, at(100)) is not None) == waits
    assert deadlines.pending_exceeded(seen, at(99)) is None


def test_what_it_waited_for_is_told() -> None:
    condition = {
        "type": "Scheduled",
        "status": "False",
        "reason": "Queued",
        "message": "Job x is held back in queue gpu until it is admitted",
        "lastTransitionTime": NOW.isoformat(),
    }
    seen = Observation(resource(LIMIT, {"conditions": [condition]}), QUEUED)
    status = decide(seen, at(100), SETTINGS).status
    assert status is not None
    assert status.failure is not None
    assert status.failure.reason == Reason.PENDING_DEADLINE_EXCEEDED
    assert "100 s): Job x is held back in queue gpu" in status.failure.message
    assert status.start_time is None
    assert status.conditions[0].status == "False"


def test_it_is_looked_at_when_it_is_due() -> None:
    decision = decide(Observation(resource(LIMIT), QUEUED), at(97), SETTINGS)
    assert decision.requeue_after == timedelta(seconds=3)


def test_time_without_a_job_does_not_count() -> None:
    """A suspended export has none; the one that it gets later is as young as its creation."""
    decision = decide(Observation(resource(LIMIT)), at(5000), SETTINGS)
    assert isinstance(decision.action, CreateJob)


def test_the_jobs_own_deadline_is_kept_by_kubernetes() -> None:
    progress = {"stage": "Verify", "percent": 80}
    seen = Observation(
        resource(status={"progress": progress}), job(ended("Failed", "DeadlineExceeded"))
    )
    status = decide(seen, at(60), SETTINGS).status
    assert status is not None
    assert status.failure is not None
    assert status.failure.reason == Reason.DEADLINE_EXCEEDED
    assert "3600 s); it was at Verify, 80 %" in status.failure.message
