"""Suspend and resume, as a table."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from modelexport_operator import suspension
from modelexport_operator.decide import decide
from modelexport_operator.decisions import CreateJob, Decision, DeleteJob
from modelexport_operator.observe import Observation, ObservedJob
from unit.operator.objects import (
    NOW,
    SETTINGS,
    SUCCESS,
    Object,
    at,
    ended,
    job,
    own_conditions,
    resource,
    running,
    terminated,
)

LEAVING = replace(job(), deleting=True)
QUEUED = replace(job(), suspended=True, queue="gpu")


def stored(reason: str, **status: object) -> Object:
    condition = {
        "type": "Scheduled",
        "status": "False",
        "reason": reason,
        "lastTransitionTime": NOW.isoformat(),
    }
    return {"conditions": [condition], **status}


def decided(found: ObservedJob | None, status: Object | None = None, **spec: object) -> Decision:
    pods = (running(),) if found is not None and not found.suspended else ()
    return decide(Observation(resource(spec, status), found, pods), at(60), SETTINGS)


@pytest.mark.parametrize("found", [job(), QUEUED], ids=["running", "queued"])
def test_suspend_deletes_the_job(found: ObservedJob) -> None:
    decision = decided(found, suspend=True)
    assert decision.action == DeleteJob(found)
    assert [event.reason for event in decision.events] == ["Suspended"]


@pytest.mark.parametrize("found", [None, LEAVING], ids=["no Job yet", "its Job is being deleted"])
def test_a_suspended_export_gets_no_job(found: ObservedJob | None) -> None:
    decision = decided(found, suspend=True)
    assert decision.action is None
    assert decision.status is not None
    assert decision.status.phase == "Suspended"
    assert decision.status.job_name is None
    scheduled = own_conditions(decision.status)[0]
    assert (scheduled.status, scheduled.reason) == ("False", "Suspended")
    assert ("being deleted" in scheduled.message) == (found is LEAVING)


def test_the_suspension_has_one_event() -> None:
    assert decided(None, stored("Suspended"), suspend=True).events == ()


def test_a_finished_job_takes_precedence() -> None:
    seen = Observation(
        resource({"suspend": True}), job(ended("Complete")), (terminated(0, SUCCESS),)
    )
    status = decide(seen, at(60), SETTINGS).status
    assert status is not None
    assert status.phase == "Succeeded"


def test_after_a_lost_result_the_job_runs_again_when_resumed() -> None:
    seen = Observation(resource({"suspend": True}), job(ended("Complete")))
    decision = decide(seen, at(60), SETTINGS)
    assert decision.action is None
    assert decision.status is not None
    assert decision.status.phase == "Suspended"
    resumed = decide(replace(seen, resource=resource()), at(60), SETTINGS)
    assert isinstance(resumed.action, CreateJob)
    assert resumed.action.manifest["metadata"]["name"].endswith("-2")


def test_resume_creates_the_job_again() -> None:
    decision = decided(None, stored("Suspended"), suspend=False)
    assert isinstance(decision.action, CreateJob)
    assert "suspend" not in decision.action.manifest["spec"]
    assert [event.reason for event in decision.events] == ["Resumed"]


def test_resume_waits_until_the_old_job_is_deleted() -> None:
    decision = decided(LEAVING, stored("Suspended"), suspend=False)
    assert decision.action is None
    assert decision.requeue_after is not None


def test_an_export_that_is_not_suspended_has_no_decision() -> None:
    assert suspension.decide(Observation(resource(), job()), at(60)) is None


def test_a_job_suspended_by_its_queue_is_queued() -> None:
    decision = decided(QUEUED)
    assert decision.action is None
    assert decision.status is not None
    assert decision.status.phase == "Queued"
    scheduled = own_conditions(decision.status)[0]
    assert (scheduled.status, scheduled.reason) == ("False", "Queued")
    assert "queue gpu" in scheduled.message
    assert decision.requeue_after is None
    assert [(event.type, event.reason) for event in decision.events] == [("Normal", "Queued")]
    assert decided(QUEUED, stored("Queued")).events == ()


def test_an_evicted_job_that_was_stopped_fails_the_export() -> None:
    """Its deadline does not count while it is suspended."""
    stopped = job(failure='{"reason": "OutOfMemory", "message": "m"}')
    status = decided(replace(stopped, suspended=True)).status
    assert status is not None
    assert status.failure is not None
    assert status.failure.reason == "OutOfMemory"


class Life:
    """One export that is suspended and resumed while pods end and the operator reconciles."""

    def __init__(self) -> None:
        self.suspend, self.generation = False, 1
        self.status: Object = {}
        self.job: ObservedJob | None = None

    def look(self) -> None:
        pods = (terminated(0, SUCCESS),) if self.job and self.job.finished else ()
        found = resource({"suspend": self.suspend}, self.status, generation=self.generation)
        decision = decide(Observation(found, self.job, pods), at(60), SETTINGS)
        if isinstance(decision.action, CreateJob):
            assert not self.suspend
            assert self.job is None
            self.job = job()
        elif isinstance(decision.action, DeleteJob):
            assert self.job is not None
            assert self.suspend
            self.job = replace(self.job, deleting=True)
        elif decision.status is not None:
            self.status = decision.status.to_wire()

    def end(self) -> None:
        """The pods are over, and with them a Job that was being deleted."""
        if self.job is not None:
            self.job = None if self.job.deleting else job(ended("Complete"))

    def toggle(self) -> None:
        self.suspend = not self.suspend
        self.generation += 1

    def has_ended(self) -> bool:
        return any(c["type"] == "Complete" for c in self.status.get("conditions", []))


@given(st.lists(st.sampled_from(["look", "look", "end", "toggle"]), max_size=30))
def test_an_export_succeeds_once_however_suspend_is_toggled(steps: list[str]) -> None:
    life = Life()
    for step in steps:
        over, before = life.has_ended(), life.status
        getattr(life, step)()
        assert not over or life.status == before
    life.suspend = False
    for _ in range(6):
        life.look()
        life.end()
    assert life.has_ended()
    assert life.status["phase"] == "Succeeded"
