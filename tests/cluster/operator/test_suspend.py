"""Suspend and resume without a queue, cancellation, deadlines and the TTL."""

from __future__ import annotations

import time

import pytest

from cluster.operator.replica import Operators, Replica
from cluster.operator.world import SUCCESS, Object, World, eventually, failure
from modelexport_api.reasons import ExitCode, Reason
from modelexport_api.status import Stage

pytestmark = pytest.mark.control_plane


def finish(world: World, name: str) -> Object:
    pod = world.live_pod(name)
    world.run_pod(pod)
    world.end_pod(pod, 0, SUCCESS)
    return world.wait_for(name, "Complete")


def is_observed(world: World, name: str) -> bool:
    found = world.export(name)
    generation: int = found["metadata"]["generation"]
    return bool(found["status"]["observedGeneration"] == generation)


def test_an_export_created_suspended_gets_no_job_until_it_is_resumed(
    world: World, operator: Replica
) -> None:
    world.create("digits", suspend=True)
    status = world.wait_for_phase("digits", "Suspended")
    condition = next(c for c in status["conditions"] if c["type"] == "Scheduled")
    assert (condition["status"], condition["reason"]) == ("False", "Suspended")
    assert not world.jobs("digits")
    world.patch("digits", {"spec": {"suspend": False}})
    finish(world, "digits")
    assert operator.requests("POST", "jobs") == 1


def test_there_are_never_two_pods_however_fast_suspend_is_toggled(
    world: World, operator: Replica
) -> None:
    world.create("digits")
    first = world.live_pod("digits")
    world.run_pod(first)
    world.wait_for_phase("digits", "Running")
    world.patch("digits", {"spec": {"suspend": True}})
    eventually(lambda: world.is_being_deleted(first), "the pod is being deleted")
    world.patch("digits", {"spec": {"suspend": False}})
    time.sleep(3)
    assert [pod["metadata"]["name"] for pod in world.pods("digits")] == [first]
    world.end_pod(first, ExitCode.RETRYABLE, failure(Reason.INTERRUPTED, Stage.VERIFY, []))
    world.delete_pod(first)
    status = finish(world, "digits")
    assert status["phase"] == "Succeeded"
    assert operator.requests("PATCH", "jobs") == 0


def test_an_operator_that_was_down_suspends_and_resumes(world: World, operators: Operators) -> None:
    first = operators.start()
    world.create("digits")
    pod = world.live_pod("digits")
    world.run_pod(pod)
    world.wait_for_phase("digits", "Running")
    first.kill()
    world.patch("digits", {"spec": {"suspend": True}})
    second = operators.start()
    world.wait_for_phase("digits", "Suspended")
    eventually(lambda: world.is_being_deleted(pod), "the pod is being deleted")
    world.delete_pod(pod)
    eventually(lambda: not world.jobs("digits"), "the Job is deleted")
    second.kill()
    world.patch("digits", {"spec": {"suspend": False}})
    operators.start()
    finish(world, "digits")
    assert "JobDeleted" not in {event["reason"] for event in world.events("digits")}


def test_toggling_suspend_after_the_end_changes_nothing(world: World, operator: Replica) -> None:
    world.create("digits")
    before = finish(world, "digits")
    for suspend in (True, False):
        world.patch("digits", {"spec": {"suspend": suspend}})
        eventually(lambda: is_observed(world, "digits"), "the generation is acknowledged")
    after = world.export("digits")["status"]
    assert {**after, "observedGeneration": 1} == before
    assert operator.requests("POST", "jobs") == 1


def test_deleting_an_export_cancels_it(world: World, operator: Replica) -> None:
    world.create("digits")
    pod = world.live_pod("digits")
    world.run_pod(pod)
    world.wait_for_phase("digits", "Running")
    job = world.job("digits")["metadata"]["name"]
    world.delete("digits")
    eventually(lambda: world.is_being_deleted(pod), "the pod is being deleted, and cleans up")
    world.delete_pod(pod)
    eventually(lambda: not world.job_exists(job), "the Job is collected")
    assert operator.requests("POST", "jobs") == 1


def test_a_finished_export_is_deleted_after_its_ttl(world: World, operator: Replica) -> None:
    world.create("digits", ttlSecondsAfterFinished=2)
    job = world.job("digits")["metadata"]["name"]
    finish(world, "digits")
    eventually(lambda: not world.exists("digits"), "the export is deleted")
    eventually(lambda: not world.job_exists(job), "and its Job with it")
    assert operator.requests("POST", "jobs") == 1


def test_a_ttl_that_is_changed_after_the_end_applies(world: World, operator: Replica) -> None:
    world.create("kept", ttlSecondsAfterFinished=4)
    world.create("shortened", ttlSecondsAfterFinished=3600)
    for name in ("kept", "shortened"):
        finish(world, name)
    world.patch("kept", {"spec": {"ttlSecondsAfterFinished": None}})
    world.patch("shortened", {"spec": {"ttlSecondsAfterFinished": 0}})
    eventually(lambda: not world.exists("shortened"), "the shortened one is deleted")
    time.sleep(4)
    assert world.exists("kept")


def test_an_operator_that_was_down_deletes_expired_exports(
    world: World, operators: Operators
) -> None:
    first = operators.start()
    world.create("digits", ttlSecondsAfterFinished=5)
    finish(world, "digits")
    first.kill()
    operators.start()
    eventually(lambda: not world.exists("digits"), "the export is deleted")


def test_an_export_that_never_starts_fails_at_its_deadline(world: World, operator: Replica) -> None:
    world.create("digits", pendingDeadlineSeconds=4)
    pod = world.live_pod("digits")
    world.unschedulable(pod, "0/1 nodes are available: 1 Insufficient nvidia.com/gpu.")
    status = world.wait_for("digits", "Failed")
    assert status["failure"]["reason"] == "PendingDeadlineExceeded"
    assert "Insufficient nvidia.com/gpu" in status["failure"]["message"]
    eventually(lambda: not world.jobs("digits"), "the Job is deleted")
    assert not world.pods("digits")


def test_a_retry_is_reported_with_its_reason(world: World, operator: Replica) -> None:
    world.create("digits", backoffLimit=3)
    first = world.live_pod("digits")
    world.run_pod(first)
    result = failure(Reason.STORE_UNAVAILABLE, Stage.FETCH, [])
    world.end_pod(first, ExitCode.RETRYABLE, result)

    def said() -> bool:
        found = world.condition("digits", "Exported")
        return found is not None and "attempt 2 of 4: StoreUnavailable: found" in found["message"]

    eventually(said, "the condition contains the reason")
    finish(world, "digits")
    retrying = [e for e in world.events("digits") if e["reason"] == "Retrying"]
    assert [event["message"] for event in retrying] == [
        "attempt 2 of 4: StoreUnavailable: found this, expected that"
    ]
