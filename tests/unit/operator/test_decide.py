"""The next step for one ModelExport, as a table."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from modelexport_api.reasons import ExitCode, Reason
from modelexport_api.status import Stage
from modelexport_operator import observe
from modelexport_operator.decide import decide
from modelexport_operator.decisions import (
    Acknowledge,
    CreateJob,
    Decision,
    DeleteExport,
    DeleteJob,
    StopJob,
)
from modelexport_operator.observe import Observation, ObservedJob, ObservedResource
from modelexport_operator.pods import ObservedPod
from modelexport_operator.rejections import Rejection, cause_of
from unit.operator.objects import (
    NOW,
    SETTINGS,
    SUCCESS,
    at,
    ended,
    export_body,
    failure,
    job,
    own_conditions,
    pod,
    resource,
    running,
    terminated,
    waiting,
)


def decided(seen: Observation, seconds: float = 60) -> Decision:
    return decide(seen, at(seconds), SETTINGS)


def conditions(decision: Decision) -> dict[str, str]:
    return {entry.type: entry.status for entry in own_conditions(decision.status)}


def unschedulable() -> ObservedPod:
    return replace(pod(), unschedulable="0/1 nodes are available: 1 Insufficient nvidia.com/gpu.")


def test_a_new_export_gets_a_job() -> None:
    decision = decided(Observation(resource()))
    assert isinstance(decision.action, CreateJob)
    assert decision.events == ()  # the status names the Job


def test_a_deleted_job_is_created_again_with_an_event() -> None:
    decision = decided(Observation(resource(status={"jobName": "digits-1a2b3c4d"})))
    assert isinstance(decision.action, CreateJob)
    assert [event.reason for event in decision.events] == ["JobDeleted"]


def over(kind: str, spec: dict[str, Any] | None = None, generation: int = 1) -> ObservedResource:
    """An export whose end was stored at NOW."""
    condition = {
        "type": kind,
        "status": "True",
        "reason": "X",
        "lastTransitionTime": NOW.isoformat(),
    }
    status = {"conditions": [condition], "jobName": "gone", "observedGeneration": 1}
    return resource(spec, status, generation=generation)


@pytest.mark.parametrize("suspend", [False, True], ids=["", "suspended"])
@pytest.mark.parametrize("kind", ["Complete", "Failed"])
@pytest.mark.parametrize("found", [None, job(ended("Failed", "DeadlineExceeded"))])
def test_a_finished_export_gets_no_job(kind: str, found: ObservedJob | None, suspend: bool) -> None:
    assert decided(Observation(over(kind, {"suspend": suspend}), found)) == Decision()


def test_a_job_that_still_runs_after_the_end_is_deleted() -> None:
    decision = decided(Observation(over("Failed"), job({"ready": 0})))
    assert decision == Decision(action=DeleteJob(job({"ready": 0})))
    leaving = replace(job({"ready": 0}), deleting=True)
    assert decided(Observation(over("Failed"), leaving)) == Decision()


def test_changes_after_the_end_are_acknowledged() -> None:
    changed = over("Complete", {"suspend": True}, generation=2)
    assert decided(Observation(changed)).action == Acknowledge(changed)


@pytest.mark.parametrize("kind", ["Complete", "Failed"])
def test_a_finished_export_is_deleted_after_its_ttl(kind: str) -> None:
    kept = over(kind, {"ttlSecondsAfterFinished": 100})
    assert decided(Observation(kept), 99) == Decision(requeue_after=timedelta(seconds=1))
    assert decided(Observation(kept), 100).action == DeleteExport(kept)


def test_nothing_is_created_while_the_job_is_being_deleted() -> None:
    leaving = replace(job(), deleting=True)
    decision = decided(Observation(resource(), leaving))
    assert decision.action is None
    assert decision.status is None
    assert decision.requeue_after == timedelta(seconds=2)


ACTIVE = [
    ("no pod yet", (), "Pending", {"Scheduled": "Unknown", "Exported": "Unknown"}),
    ("waits for a GPU", (unschedulable(),), "Pending", {"Scheduled": "False"}),
    ("pulls its image", (waiting("ContainerCreating"),), "Pending", {"Scheduled": "True"}),
    ("cannot pull", (waiting("ErrImagePull"),), "Pending", {"Exported": "False"}),
    ("runs", (running(),), "Running", {"Scheduled": "True", "Exported": "Unknown"}),
    ("runs again", (terminated(137), running()), "Running", {"Scheduled": "True"}),
]


@pytest.mark.parametrize(
    ("pods", "phase", "wanted"), [row[1:] for row in ACTIVE], ids=[row[0] for row in ACTIVE]
)
def test_conditions_of_an_active_job(
    pods: tuple[ObservedPod, ...], phase: str, wanted: dict[str, str]
) -> None:
    decision = decided(Observation(resource(), job(), pods))
    assert decision.action is None
    assert decision.status is not None
    assert decision.status.phase == phase
    found = conditions(decision)
    assert {kind: found[kind] for kind in wanted} == wanted
    assert not {"Complete", "Failed"} & set(found)
    assert decision.requeue_after is not None
    assert (decision.requeue_after == timedelta(seconds=120)) == (phase == "Running")


@pytest.mark.parametrize(("age", "pause"), [(0, 2), (40, 10), (4000, 60)])
def test_a_waiting_pod_is_checked_at_growing_intervals(age: float, pause: float) -> None:
    decision = decided(Observation(resource(), job(), (unschedulable(),)), age)
    assert decision.requeue_after == timedelta(seconds=pause)


STOPPED = [
    ("killed for its memory", terminated(137, reason="OOMKilled"), "OutOfMemory"),
    ("its command is missing", terminated(128, reason="StartError"), "PodCannotStart"),
]


@pytest.mark.parametrize(
    ("ended_pod", "reason"), [row[1:] for row in STOPPED], ids=[row[0] for row in STOPPED]
)
def test_jobs_without_a_chance_of_success_are_stopped(ended_pod: ObservedPod, reason: str) -> None:
    decision = decided(Observation(resource(), job(), (ended_pod,)))
    assert isinstance(decision.action, StopJob)
    assert decision.action.failure.reason == reason


def test_a_stopped_job_is_not_stopped_again() -> None:
    stopping = job(failure='{"reason": "OutOfMemory", "message": "m"}')
    decision = decided(Observation(resource(), stopping, (terminated(137, reason="OOMKilled"),)))
    assert decision.action is None


@pytest.mark.parametrize(
    "ended_pod",
    [terminated(137, reason="Error"), terminated(1), terminated(ExitCode.RETRYABLE)],
    ids=["killed", "a crash", "a retryable result"],
)
def test_failures_that_may_pass_are_left_to_the_job(ended_pod: ObservedPod) -> None:
    assert decided(Observation(resource(), job(), (ended_pod,))).action is None


@pytest.mark.parametrize(("since", "stops"), [(0, True), (-100, True), (50, False)])
def test_a_pod_that_cannot_start_has_a_grace_period(since: float, stops: bool) -> None:
    condition = {
        "type": "Exported",
        "status": "False",
        "reason": "PodCannotStart",
        "lastTransitionTime": at(since).isoformat(),
    }
    stored = resource(status={"conditions": [condition]})
    stuck = waiting("ImagePullBackOff", 'Back-off pulling image "nope"')
    decision = decided(Observation(stored, job(), (stuck,)), 121)
    assert isinstance(decision.action, StopJob) == stops


NO_ACCOUNT = (
    'pods "x" is forbidden: error looking up service account ml/nobody: '
    'serviceaccount "nobody" not found'
)


@pytest.mark.parametrize(
    ("message", "seconds", "stops"),
    [
        ('pods "x" is forbidden: violates PodSecurity "restricted"', 200, True),
        (NO_ACCOUNT, 200, True),
        (NO_ACCOUNT, 60, False),
        ("pods is forbidden: exceeded quota: gpus", 200, False),
        ('Error creating: Post "https://10.96.0.1/api/v1/pods": unexpected EOF', 200, False),
    ],
    ids=["by policy", "no service account", "within the grace period", "quota", "no answer"],
)
def test_a_pod_that_cannot_be_created(message: str, seconds: float, stops: bool) -> None:
    seen = Observation(resource(), job(), pod_rejection=Rejection(message, cause_of(message)))
    decision = decided(seen, seconds)
    assert isinstance(decision.action, StopJob) == stops
    if not stops:
        assert conditions(decision)["Scheduled"] == "False"


def test_success() -> None:
    seen = Observation(resource(), job(ended("Complete")), (terminated(0, SUCCESS),))
    decision = decided(seen)
    assert decision.status is not None
    assert decision.status.phase == "Succeeded"
    assert decision.status.artifact == SUCCESS.artifact
    assert decision.status.completion_time == at(60)
    assert decision.status.start_time == at(5)
    assert set(conditions(decision).values()) == {"True"}


VERIFY = {"mode": "Verify", "artifact": {"uri": "s3://models/foreign.onnx"}}


def reasons(decision: Decision) -> dict[str, str]:
    return {entry.type: entry.reason for entry in own_conditions(decision.status)}


def test_a_running_verification_has_one_pending_condition() -> None:
    assert reasons(decided(Observation(resource(spec=VERIFY), job(), (running(),)))) == {
        "Scheduled": "Scheduled",
        "Exported": "NotRequested",
        "Verified": "Running",
        "Published": "NotRequested",
    }


def test_a_verification_is_complete_when_verified() -> None:
    seen = Observation(resource(spec=VERIFY), job(ended("Complete")), (terminated(0, SUCCESS),))
    decision = decided(seen)
    assert decision.status is not None
    assert decision.status.phase == "Succeeded"
    assert decision.status.artifact == SUCCESS.artifact
    assert conditions(decision) == {
        "Scheduled": "True",
        "Exported": "False",
        "Verified": "True",
        "Published": "False",
        "Complete": "True",
    }
    assert reasons(decision)["Complete"] == "Verified"
    assert reasons(decision)["Exported"] == reasons(decision)["Published"] == "NotRequested"


@pytest.mark.parametrize(
    ("reason", "stage"),
    [(Reason.VERIFICATION_FAILED, Stage.VERIFY), (Reason.ARTIFACT_INVALID, Stage.FETCH)],
)
def test_a_failed_verification_has_its_reason_in_one_condition(
    reason: Reason, stage: Stage
) -> None:
    pod_ended = terminated(15, failure(reason, stage))
    seen = Observation(
        resource(spec=VERIFY), job(ended("Failed", "PodFailurePolicy")), (pod_ended,)
    )
    assert reasons(decided(seen)) == {
        "Scheduled": "Scheduled",
        "Exported": "NotRequested",
        "Verified": reason,
        "Published": "NotRequested",
        "Failed": reason,
    }


def test_after_a_lost_result_the_job_runs_again() -> None:
    decision = decided(Observation(resource(), job(ended("Complete")), ()))
    assert isinstance(decision.action, CreateJob)
    assert decision.action.manifest["metadata"]["name"].endswith("-2")
    assert [event.reason for event in decision.events] == ["ResultLost"]


def test_a_result_lost_twice_is_a_failure() -> None:
    decision = decided(Observation(resource(), job(ended("Complete"), run=2), ()))
    assert decision.status is not None
    assert decision.status.failure is not None
    assert decision.status.failure.reason == Reason.RESULT_LOST


def test_a_manifest_of_another_version_fails_with_a_message() -> None:
    decision = decided(Observation(resource(spec={"teleport": True})))
    assert decision.status is not None
    assert decision.status.failure is not None
    assert decision.status.failure.reason == Reason.INVALID_MANIFEST
    assert "spec.teleport" in decision.status.failure.message


def test_a_job_of_an_older_operator_version_is_followed() -> None:
    seen = Observation(resource(spec={"teleport": True}), job(ended("Complete")))
    decision = decided(replace(seen, pods=(terminated(0, SUCCESS),)))
    assert decision.status is not None
    assert decision.status.phase == "Succeeded"


def test_observed_generation_is_the_current_one() -> None:
    """Only fields that no artifact depends on can change."""
    decision = decided(Observation(resource(generation=2), job(), (running(),)))
    assert decision.events == ()
    assert decision.status is not None
    assert decision.status.observed_generation == 2


def test_a_transition_time_changes_only_with_the_status() -> None:
    first = decided(Observation(resource(), job(), (pod(),)), 10).status
    assert first is not None
    stored = observe.resource(export_body(status=first.to_wire()))
    later = decided(Observation(stored, job(), (running(),)), 20).status
    assert later is not None
    times = {entry.type: entry.last_transition_time for entry in later.conditions}
    assert times["Scheduled"] == at(20)
    assert times["Published"] == at(10)
