"""Deadlines for the start of a pod, and for the work."""

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
    own_conditions,
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
    ("no deadline", Observation(resource(), job(), (pod(),)), False),
    ("has no Job: it is suspended", Observation(resource(LIMIT)), False),
    ("runs", Observation(resource(LIMIT), job(), (running(),)), False),
    ("ran, and is evicted", Observation(resource(LIMIT, STARTED), QUEUED), False),
    ("ran, and is retried", Observation(resource(LIMIT), job(), (terminated(137),)), False),
    ("ran, its pods are deleted", Observation(resource(LIMIT), job({"failed": 1})), False),
]


@pytest.mark.parametrize(("seen", "waits"), [row[1:] for row in ROWS], ids=[r[0] for r in ROWS])
def test_only_exports_that_never_started_are_pending(seen: Observation, waits: bool) -> None:
    assert deadlines.pending_deadline(seen) == (at(100) if waits else None)
    assert (deadlines.check_pending_deadline(seen, at(100)) is not None) == waits
    assert deadlines.check_pending_deadline(seen, at(99)) is None


def test_the_failure_contains_the_reason_for_waiting() -> None:
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
    assert own_conditions(status)[0].status == "False"


def test_the_export_is_checked_at_the_deadline() -> None:
    decision = decide(Observation(resource(LIMIT), QUEUED), at(97), SETTINGS)
    assert decision.requeue_after == timedelta(seconds=3)


def test_time_without_a_job_does_not_count() -> None:
    """A suspended export has no Job, and the deadline counts from the Job's creation."""
    decision = decide(Observation(resource(LIMIT)), at(5000), SETTINGS)
    assert isinstance(decision.action, CreateJob)


def test_kubernetes_enforces_the_active_deadline() -> None:
    progress = {"stage": "Verify", "percent": 80}
    seen = Observation(
        resource(status={"progress": progress}), job(ended("Failed", "DeadlineExceeded"))
    )
    status = decide(seen, at(60), SETTINGS).status
    assert status is not None
    assert status.failure is not None
    assert status.failure.reason == Reason.DEADLINE_EXCEEDED
    assert "3600 s): stage Verify, 80 %" in status.failure.message
