"""A Job with a queue label is managed by its queue: the operator waits and does not interfere."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

import pytest

from cluster.operator.kueue import QUEUE_LABEL, Kueue, install_webhook
from cluster.operator.replica import Replica
from cluster.operator.world import SUCCESS, Object, World, eventually, failure
from modelexport_api.reasons import ExitCode, Reason
from modelexport_api.status import Stage

pytestmark = pytest.mark.control_plane

LABELS = {QUEUE_LABEL: "gpu", "kueue.x-k8s.io/priority-class": "low", "team": "vision"}
TOLERATION: Object = {"key": "spot", "operator": "Exists", "effect": "NoSchedule"}
TEMPLATE: Object = {
    "spec": {"nodeSelector": {"zone": "a"}, "tolerations": [TOLERATION]},
    "metadata": {"annotations": {"cost": "research"}},
}


@pytest.fixture(params=["webhook", "slipped past the webhook"])
def kueue(request: pytest.FixtureRequest, world: World) -> Iterator[Kueue]:
    webhook = install_webhook(world.plane, world.namespace)
    installed = webhook if request.param == "webhook" else contextlib.nullcontext()
    with installed, Kueue(world) as running:
        yield running


@pytest.fixture
def queue(world: World) -> Iterator[Kueue]:
    with install_webhook(world.plane, world.namespace), Kueue(world) as running:
        yield running


def spec(job: Object) -> Object:
    found: Object = job["spec"]["template"]["spec"]
    return found


def assert_no_fight(operator: Replica, *, created: int, deleted: int = 0) -> None:
    """Assert that the operator only created and deleted Jobs."""
    assert operator.requests("POST", "jobs") == created
    assert operator.requests("DELETE", "jobs") == deleted
    assert operator.requests("PATCH", "jobs") == 0


def finish(world: World, name: str) -> Object:
    pod = world.live_pod(name)
    world.run_pod(pod)
    world.end_pod(pod, 0, SUCCESS)
    return world.wait_for(name, "Complete")


def test_a_queued_export_waits_and_runs_on_the_nodes_of_its_quota(
    world: World, operator: Replica, kueue: Kueue
) -> None:
    world.create("digits", LABELS, podTemplate=TEMPLATE)
    waiting = world.wait_for_phase("digits", "Queued")
    condition = world.condition("digits", "Scheduled")
    assert condition is not None
    assert (condition["status"], condition["reason"]) == ("False", "Queued")
    assert "queue gpu" in condition["message"]
    assert "failure" not in waiting
    job = world.job("digits")
    labels = {key: value for key, value in LABELS.items() if key != "team"}
    assert labels.items() <= job["metadata"]["labels"].items()
    assert "team" not in job["metadata"]["labels"]
    eventually(lambda: not world.pods("digits"), "no pod while it waits")

    kueue.quota = 1
    pod = eventually(lambda: next(iter(world.pods("digits")), None), "a pod")
    assert pod["spec"]["nodeSelector"] == {"zone": "a", "gpu": "a100"}
    keys = [entry["key"] for entry in pod["spec"]["tolerations"]]
    assert {"spot", "gpu"} <= set(keys)
    assert pod["metadata"]["labels"]["kueue.x-k8s.io/local-queue-name"] == "gpu"
    world.run_pod(pod["metadata"]["name"])
    world.wait_for_phase("digits", "Running")
    world.end_pod(pod["metadata"]["name"], 0, SUCCESS)
    world.wait_for("digits", "Complete")
    assert_no_fight(operator, created=1)
    assert "Queued" in {event["reason"] for event in world.events("digits")}
    eventually(lambda: not kueue.admitted(), "the quota is free again")


def test_an_evicted_export_has_not_failed_and_finishes_later(
    world: World, operator: Replica, queue: Kueue
) -> None:
    queue.quota = 1
    world.create("digits", LABELS, podTemplate=TEMPLATE, backoffLimit=0)
    submitted = None
    for _ in range(2):
        pod = world.live_pod("digits")
        world.run_pod(pod)
        world.wait_for_phase("digits", "Running")
        queue.quota = 0
        queue.evict(world.job("digits")["metadata"]["name"])
        world.end_pod(pod, ExitCode.RETRYABLE, failure(Reason.INTERRUPTED, Stage.VERIFY, []))
        world.delete_pod(pod)
        evicted = world.wait_for_phase("digits", "Queued")
        assert not {"Complete", "Failed"} & {c["type"] for c in evicted["conditions"]}
        restored = world.job("digits")["spec"]["template"]
        assert submitted in {None, str(restored)}
        submitted = str(restored)
        assert restored["spec"]["nodeSelector"] == {"zone": "a"}
        assert [entry["key"] for entry in restored["spec"]["tolerations"]] == ["spot"]
        queue.quota = 1
    status = finish(world, "digits")
    assert status["phase"] == "Succeeded"
    assert len(world.jobs("digits")) == 1
    assert_no_fight(operator, created=1)
    reasons = [event["reason"] for event in world.events("digits")]
    assert not {"JobDeleted", "Retrying", "ResultLost"} & set(reasons)


def test_one_of_two_waits_until_the_other_is_done(
    world: World, operator: Replica, queue: Kueue
) -> None:
    queue.quota = 1
    world.create("first", LABELS)
    first = world.live_pod("first")
    world.create("second", LABELS)
    world.wait_for_phase("second", "Queued")
    world.run_pod(first)
    world.end_pod(first, 0, SUCCESS)
    world.wait_for("first", "Complete")
    finish(world, "second")
    assert_no_fight(operator, created=2)


def test_an_export_that_waits_too_long_fails_and_leaves_the_queue(
    world: World, operator: Replica, queue: Kueue
) -> None:
    world.create("digits", LABELS, pendingDeadlineSeconds=4)
    world.wait_for_phase("digits", "Queued")
    status = world.wait_for("digits", "Failed")
    assert operator.requests("GET", "pods") == 0  # thousands may wait
    assert status["failure"]["reason"] == "PendingDeadlineExceeded"
    assert "queue gpu" in status["failure"]["message"]
    eventually(lambda: not world.jobs("digits"), "the Job is deleted")
    queue.quota = 1
    assert world.export("digits")["status"]["phase"] == "Failed"
    assert not world.pods("digits")
    assert_no_fight(operator, created=1, deleted=1)


def test_the_pending_deadline_does_not_apply_to_an_evicted_export(
    world: World, operator: Replica, queue: Kueue
) -> None:
    queue.quota = 1
    world.create("digits", LABELS, pendingDeadlineSeconds=5)
    pod = world.live_pod("digits")
    world.run_pod(pod)
    begun = world.wait_for_phase("digits", "Running")
    queue.quota = 0
    queue.evict(world.job("digits")["metadata"]["name"])
    world.delete_pod(pod)
    world.wait_for_phase("digits", "Queued")
    created = world.job("digits")["metadata"]["creationTimestamp"]
    world.create("later", LABELS, pendingDeadlineSeconds=5)
    world.wait_for("later", "Failed")
    assert world.job("digits")["metadata"]["creationTimestamp"] == created
    queue.quota = 1
    assert finish(world, "digits")["startTime"] == begun["startTime"]


def test_suspending_a_queued_export_removes_it_from_the_queue(
    world: World, operator: Replica, queue: Kueue
) -> None:
    world.create("digits", LABELS)
    world.wait_for_phase("digits", "Queued")
    world.patch("digits", {"spec": {"suspend": True}})
    world.wait_for_phase("digits", "Suspended")
    eventually(lambda: not queue.workloads, "nothing is in the queue")
    queue.quota = 1
    world.patch("digits", {"spec": {"suspend": False}})
    status = finish(world, "digits")
    assert status["observedGeneration"] == 3
    assert_no_fight(operator, created=2, deleted=1)
    reasons = {event["reason"] for event in world.events("digits")}
    assert {"Suspended", "Resumed"} <= reasons
    assert "JobDeleted" not in reasons


def test_suspending_a_running_export_frees_its_quota(
    world: World, operator: Replica, queue: Kueue
) -> None:
    queue.quota = 1
    world.create("digits", LABELS)
    world.create("another", LABELS)
    (name,) = eventually(queue.admitted, "one is admitted")
    mine, other = ("digits", "another") if name.startswith("digits") else ("another", "digits")
    pod = world.live_pod(mine)
    world.run_pod(pod)
    world.wait_for_phase(mine, "Running")
    world.patch(mine, {"spec": {"suspend": True}})
    world.wait_for_phase(mine, "Suspended")
    eventually(lambda: world.is_being_deleted(pod), "the pod is being deleted")
    world.delete_pod(pod)
    finish(world, other)
    world.patch(mine, {"spec": {"suspend": False}})
    finish(world, mine)
    assert_no_fight(operator, created=3, deleted=1)


@pytest.mark.parametrize("suspend", [True, False])
def test_the_operator_leaves_a_user_s_changes_of_the_job_to_kueue(
    world: World, operator: Replica, queue: Kueue, suspend: bool
) -> None:
    queue.quota = int(suspend)
    world.create("digits", LABELS)
    if suspend:
        world.run_pod(world.live_pod("digits"))
        world.wait_for_phase("digits", "Running")
    else:
        world.wait_for_phase("digits", "Queued")
    job = world.job("digits")["metadata"]["name"]
    world.batch.patch_namespaced_job(job, world.namespace, {"spec": {"suspend": suspend}})
    eventually(
        lambda: bool(world.job("digits")["spec"].get("suspend")) is not suspend, "Kueue's will"
    )
    assert_no_fight(operator, created=1)
