"""Whatever is killed or deleted, the result is the same: one Job, one correct status."""

from __future__ import annotations

import os
import signal
import time

import pytest

from cluster.operator.replica import LEASE, Operators, Replica, lease
from cluster.operator.world import SUCCESS, World, eventually

pytestmark = pytest.mark.control_plane


def test_an_operator_killed_while_the_pod_runs_finds_the_result(
    world: World, operators: Operators
) -> None:
    first = operators.start()
    world.create("digits")
    pod = world.live_pod("digits")
    world.run_pod(pod)
    world.wait_for("digits", "Scheduled")
    first.kill()
    world.end_pod(pod, 0, SUCCESS)
    operators.start()
    world.wait_for("digits", "Complete")
    assert len(world.jobs("digits")) == 1
    assert len(world.pods("digits")) == 1


@pytest.mark.parametrize("seconds", [0.0, 0.03, 0.1, 0.3])
def test_an_operator_killed_right_after_a_creation_creates_one_job(
    world: World, operators: Operators, seconds: float
) -> None:
    first = operators.start()
    eventually(first.leads, "the operator leads")
    world.create("digits")
    time.sleep(seconds)
    first.kill()
    operators.start()
    pod = world.live_pod("digits")
    world.run_pod(pod)
    world.end_pod(pod, 0, SUCCESS)
    world.wait_for("digits", "Complete")
    assert len(world.jobs("digits")) == 1
    assert len(world.pods("digits")) == 1
    reasons = [event["reason"] for event in world.events("digits")]
    assert reasons.count("Complete") == 1


def test_a_job_deleted_by_a_person_is_created_again(world: World, operator: Replica) -> None:
    world.create("digits")
    world.run_pod(world.live_pod("digits"))
    world.wait_for("digits", "Scheduled")
    first = world.job("digits")["metadata"]["uid"]
    world.delete_job(world.job("digits")["metadata"]["name"])
    eventually(
        lambda: [j for j in world.jobs("digits") if j["metadata"]["uid"] != first], "another Job"
    )
    pod = world.live_pod("digits")
    world.run_pod(pod)
    world.end_pod(pod, 0, SUCCESS)
    world.wait_for("digits", "Complete")
    assert "JobDeleted" in {event["reason"] for event in world.events("digits")}


def test_a_job_deleted_after_the_end_is_not_created_again(
    world: World, operators: Operators
) -> None:
    first = operators.start()
    world.create("digits")
    pod = world.live_pod("digits")
    world.run_pod(pod)
    world.end_pod(pod, 0, SUCCESS)
    world.wait_for("digits", "Complete")
    world.delete_job(world.job("digits")["metadata"]["name"])
    eventually(lambda: not world.jobs("digits"), "the Job is deleted")
    first.kill()
    second = operators.start()
    eventually(second.leads, "the operator leads")
    world.create("another")
    world.job("another")  # by now the operator has observed everything
    assert not world.jobs("digits")
    assert world.export("digits")["status"]["phase"] == "Succeeded"


def test_after_a_lost_result_the_job_runs_again(world: World, operators: Operators) -> None:
    first = operators.start()
    world.create("digits")
    pod = world.live_pod("digits")
    world.run_pod(pod)
    world.wait_for("digits", "Scheduled")
    first.kill()
    world.end_pod(pod, 0, SUCCESS)
    eventually(lambda: world.job("digits")["status"].get("succeeded"), "the Job has succeeded")
    world.delete_pod(pod)
    operators.start()
    second = world.live_pod("digits")
    world.run_pod(second)
    world.end_pod(second, 0, SUCCESS.model_copy(update={"reused": True}))
    status = world.wait_for("digits", "Complete")
    assert status["jobName"].endswith("-2")
    assert "ResultLost" in {event["reason"] for event in world.events("digits")}


def test_a_foreign_job_of_that_name_is_not_adopted(world: World, operators: Operators) -> None:
    uid = world.create("digits")["metadata"]["uid"]
    world.foreign_job("digits", uid)
    operators.start()
    status = world.wait_for("digits", "Failed")
    assert status["failure"]["reason"] == "PodRejected"
    assert "does not belong to this ModelExport" in status["failure"]["message"]


def test_one_of_two_replicas_leads_and_the_other_takes_over(
    world: World, operators: Operators
) -> None:
    short = lease(4)
    first, second = (operators.start(f"operator-{one}", lease=short) for one in (0, 1))
    eventually(lambda: first.leads() or second.leads(), "one of them leads")
    leader, other = (first, second) if first.leads() else (second, first)
    assert not other.leads()
    eventually(other.healthy, "the other one is healthy")
    world.create("digits")
    pod = world.live_pod("digits")
    leader.kill()
    began = time.monotonic()
    world.run_pod(pod)
    world.end_pod(pod, 0, SUCCESS)
    eventually(other.leads, "the other one leads")
    assert time.monotonic() - began < 4 + 2  # the Lease lasts for 4 s
    world.wait_for("digits", "Complete")
    assert len(world.jobs("digits")) == 1


def test_a_rollout_transfers_leadership_without_waiting(world: World, operators: Operators) -> None:
    default = {"name": LEASE}  # it lasts for 15 s
    first = operators.start("operator-0", lease=default)
    eventually(first.leads, "the first leads")
    second = operators.start("operator-1", lease=default)
    eventually(second.healthy, "the second is up")
    began = time.monotonic()
    assert first.terminate() == 0
    eventually(second.leads, "the second leads")
    assert time.monotonic() - began < 2
    world.create("digits")
    assert world.live_pod("digits")


def test_a_leader_that_stood_still_starts_again(world: World, operators: Operators) -> None:
    replica = operators.start(lease=lease(2))
    eventually(replica.leads, "the replica leads")
    os.kill(replica.child.pid, signal.SIGSTOP)
    time.sleep(2)
    os.kill(replica.child.pid, signal.SIGCONT)
    world.create("digits")
    assert world.live_pod("digits")
    assert "lost leadership" in replica.child.log.read_text()
    assert replica.terminate() == 0


def test_the_job_of_a_deleted_export_is_deleted(world: World, operator: Replica) -> None:
    world.create("digits")
    job = world.job("digits")["metadata"]["name"]
    world.delete("digits")
    eventually(lambda: not world.job_exists(job), "the Job is collected")
