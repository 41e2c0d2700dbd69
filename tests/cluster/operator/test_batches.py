"""A batch on an Indexed Job: live counts, and a final status from all shares."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from cluster.operator.kubelet import LogServer
from cluster.operator.kueue import QUEUE_LABEL, Kueue, install_webhook
from cluster.operator.replica import Operators, Replica
from cluster.operator.world import Object, World, eventually, failure
from modelexport_api.items import ShareCounts
from modelexport_api.pod import PodResult
from modelexport_api.reasons import ExitCode, Reason
from modelexport_api.status import Stage
from unit.operator.objects import RESULTS, share

pytestmark = pytest.mark.control_plane

SOURCE = {"uri": "s3://models/folds/*.pt", "format": "StateDict"}
DESTINATION = {"uri": "s3://models/onnx/{stem}/"}
INDEX = "s3://models/onnx/batches/x/index.html"


@pytest.fixture
def create(world: World) -> Callable[..., None]:
    def made(labels: dict[str, str] | None = None, **spec: object) -> None:
        world.create("folds", labels, source=SOURCE, destination=DESTINATION, parallelism=2, **spec)

    return made


def result(counts: ShareCounts) -> PodResult:
    return PodResult(outcome="Succeeded", share=counts, report_uri=INDEX)


def line(counts: ShareCounts) -> str:
    progress = {"stage": "Verify", "percent": 50}
    entry = {"time": "t", "level": "info", "message": "m", "progress": progress}
    return json.dumps({**entry, "share": counts.to_wire()})


def pod_of(world: World, index: int, other_than: str = "") -> str:
    """Wait for the pod of an index; return its name."""

    def found() -> str | None:
        for pod in world.pods("folds"):
            over = pod.get("status", {}).get("phase") in {"Succeeded", "Failed"}
            annotations = pod["metadata"]["annotations"]
            mine = annotations["batch.kubernetes.io/job-completion-index"] == str(index)
            name: str = pod["metadata"]["name"]
            if mine and not over and name != other_than:
                return name
        return None

    return eventually(found, f"a pod of index {index}", 60)


def items(world: World) -> Object:
    found: Object = world.export("folds").get("status", {}).get("items", {})
    return {key: found[key] for key in ("total", "succeeded", "failed", "running") if key in found}


def test_counts_are_live_and_all_published(
    world: World, operator: Replica, logs: LogServer, create: Callable[..., None]
) -> None:
    create()
    pods = [pod_of(world, index) for index in (0, 1)]
    spec = world.job("folds")["spec"]
    assert spec["completionMode"] == "Indexed"
    assert (spec["completions"], spec["backoffLimitPerIndex"], spec["maxFailedIndexes"]) == (
        2,
        3,
        2,
    )
    for number, pod in enumerate(pods):
        logs.say(world.namespace, pod, line(share(number, 1, running=1)))
        world.run_pod(pod)
    live = {"total": 5, "succeeded": 2, "failed": 0, "running": 2}
    eventually(lambda: items(world) == live, "both shares are summed")
    progress = world.export("folds")["status"]["progress"]
    assert progress["percent"] == 40
    assert progress["message"] == "2 of 5 checkpoints done, 2 running"
    world.end_pod(pods[1], 0, result(share(1, 2)))
    logs.say(world.namespace, pods[0], line(share(0, 2, running=1)))
    live = {"total": 5, "succeeded": 4, "failed": 0, "running": 1}
    eventually(lambda: items(world) == live, "the finished share is still counted")
    world.end_pod(pods[0], 0, result(share(0, 3)))
    status = world.wait_for("folds", "Complete")
    assert status["items"]["succeeded"] == status["items"]["total"] == 5
    assert status["items"]["resultsUri"] == RESULTS
    assert status["reportUri"] == INDEX
    assert status["phase"] == "Succeeded"
    complete = next(c for c in status["conditions"] if c["type"] == "Complete")
    assert complete["reason"] == "Published"


@pytest.mark.parametrize("allowed", [0, 1])
def test_max_failed_decides_whether_one_bad_checkpoint_fails_the_batch(
    world: World, operator: Replica, create: Callable[..., None], allowed: int
) -> None:
    create(maxFailed=allowed)
    for index, counts in enumerate((share(0, 2, failed=1), share(1, 2))):
        pod = pod_of(world, index)
        world.run_pod(pod)
        world.end_pod(pod, 0, result(counts))
    status = world.wait_for("folds", "Complete" if allowed else "Failed")
    assert items(world) == {"total": 5, "succeeded": 4, "failed": 1, "running": 0}
    assert status["items"]["reasons"] == {"CheckpointCorrupt": 1}
    assert status["reportUri"] == INDEX
    if allowed:
        complete = next(c for c in status["conditions"] if c["type"] == "Complete")
        assert complete["reason"] == "PartiallyPublished"
        assert "4 of 5 checkpoints" in complete["message"]
    else:
        assert status["failure"]["reason"] == "TooManyFailed"
        assert "1 of 5 checkpoints failed" in status["failure"]["message"]
        assert "fold-3.pt" in status["failure"]["message"]
        assert RESULTS in status["failure"]["message"]


def test_a_killed_pod_is_replaced_and_its_share_continues(
    world: World, operator: Replica, create: Callable[..., None]
) -> None:
    create()
    first, other = pod_of(world, 0), pod_of(world, 1)
    world.run_pod(first)
    world.run_pod(other)
    world.end_pod(first, 137, reason="OOMKilled")
    second = pod_of(world, 0, other_than=first)
    world.end_pod(other, 0, result(share(1, 2)))
    world.run_pod(second)
    world.end_pod(second, 0, result(share(0, 3)))
    status = world.wait_for("folds", "Complete")
    assert status["items"]["succeeded"] == 5
    assert status["attempts"] == 3
    assert "Retrying" in {event["reason"] for event in world.events("folds")}


def test_an_abandoned_share_counts_what_it_published(
    world: World, operator: Replica, logs: LogServer, create: Callable[..., None]
) -> None:
    create(backoffLimit=0, maxFailed=5)
    first, other = pod_of(world, 0), pod_of(world, 1)
    world.run_pod(other)
    world.end_pod(other, 0, result(share(1, 2)))
    world.run_pod(first)
    logs.say(world.namespace, first, line(share(0, 1, running=1)))
    world.end_pod(first, 137, reason="OOMKilled")
    status = world.wait_for("folds", "Complete")
    assert items(world) == {"total": 5, "succeeded": 3, "failed": 2, "running": 0}
    assert status["items"]["reasons"] == {"PodKilled": 2}


def test_a_failure_of_the_whole_batch_ends_it_at_once(
    world: World, operator: Replica, create: Callable[..., None]
) -> None:
    create()
    first, other = pod_of(world, 0), pod_of(world, 1)
    world.run_pod(first)
    world.run_pod(other)
    result = failure(Reason.NOTHING_MATCHED, Stage.FETCH, [])
    world.end_pod(first, ExitCode.SOURCE, result)
    eventually(lambda: world.is_being_deleted(other), "the other pod is being deleted")
    world.delete_pod(other)
    status = world.wait_for("folds", "Failed")
    assert status["failure"]["reason"] == "NothingMatched"


def test_after_a_lost_result_of_one_share_the_job_runs_again(
    world: World, operators: Operators, create: Callable[..., None]
) -> None:
    first = operators.start()
    create()
    pods = [pod_of(world, index) for index in (0, 1)]
    for pod in pods:
        world.run_pod(pod)
    world.wait_for("folds", "Scheduled")
    first.kill()
    for number, pod in enumerate(pods):
        world.end_pod(pod, 0, result(share(number, 3 - number)))
    eventually(lambda: world.job("folds")["status"].get("succeeded") == 2, "the Job is done")
    world.delete_pod(pods[0])
    operators.start()
    eventually(lambda: len(world.jobs("folds")) == 2, "a second run")
    for number in (0, 1):
        pod = pod_of(world, number)
        world.run_pod(pod)
        world.end_pod(pod, 0, result(share(number, 3 - number)))
    status = world.wait_for("folds", "Complete")
    assert status["items"]["succeeded"] == 5
    assert status["jobName"].endswith("-2")


def test_a_suspended_batch_keeps_its_counts_and_nothing_is_running(
    world: World, operator: Replica, logs: LogServer, create: Callable[..., None]
) -> None:
    create()
    pods = [pod_of(world, index) for index in (0, 1)]
    for number, pod in enumerate(pods):
        logs.say(world.namespace, pod, line(share(number, 1, running=1)))
        world.run_pod(pod)
    eventually(lambda: items(world).get("succeeded") == 2, "counts are live")
    world.patch("folds", {"spec": {"suspend": True}})
    rest = {"total": 5, "succeeded": 2, "failed": 0, "running": 0}
    eventually(lambda: items(world) == rest, "nothing is running")
    assert "progress" not in world.export("folds")["status"]
    eventually(lambda: all(map(world.is_being_deleted, pods)), "the pods are being deleted")
    for pod in pods:
        world.delete_pod(pod)
    world.patch("folds", {"spec": {"suspend": False}})
    for number in (0, 1):
        pod = pod_of(world, number)
        world.run_pod(pod)
        world.end_pod(pod, 0, result(share(number, 3 - number)))
    status = world.wait_for("folds", "Complete")
    assert status["items"]["succeeded"] == 5


def test_an_evicted_batch_keeps_its_counts_and_continues(
    world: World, operator: Replica, logs: LogServer, create: Callable[..., None]
) -> None:
    with install_webhook(world.plane, world.namespace), Kueue(world, quota=1) as kueue:
        create({QUEUE_LABEL: "gpu"}, backoffLimit=0)
        pods = [pod_of(world, index) for index in (0, 1)]
        for number, pod in enumerate(pods):
            logs.say(world.namespace, pod, line(share(number, 1, running=1)))
            world.run_pod(pod)
        eventually(lambda: items(world).get("succeeded") == 2, "counts are live")
        kueue.quota = 0
        kueue.evict(world.job("folds")["metadata"]["name"])
        for pod in pods:
            world.end_pod(pod, ExitCode.RETRYABLE)
            world.delete_pod(pod)
        world.wait_for_phase("folds", "Queued")
        rest = {"total": 5, "succeeded": 2, "failed": 0, "running": 0}
        eventually(lambda: items(world) == rest, "nothing is running")
        kueue.quota = 1
        for number in (0, 1):
            pod = pod_of(world, number)
            world.run_pod(pod)
            world.end_pod(pod, 0, result(share(number, 3 - number)))
        status = world.wait_for("folds", "Complete")
    assert status["items"]["succeeded"] == 5
    assert status["attempts"] == 2
    assert operator.requests("POST", "jobs") == 1
    assert operator.requests("PATCH", "jobs") == operator.requests("DELETE", "jobs") == 0
