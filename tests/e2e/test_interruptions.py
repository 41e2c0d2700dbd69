"""Processes killed while they run: the result is the same, and nothing is done twice."""

from __future__ import annotations

import signal
from typing import Any

import pytest

from bed import processes
from e2e import product
from e2e.product import User
from models.catalog import DIGITS, FACTORY_ALLOCATES, MINILM

pytestmark = pytest.mark.node


def running_pod(user: User, name: str) -> dict[str, Any] | None:
    """Wait for progress of an export; return its pod."""
    status = user.get(name).get("status", {})
    if "progress" not in status:
        return None
    pods = [pod for pod in user.pods(name) if pod["status"]["phase"] == "Running"]
    return pods[0] if pods else None


def wait_for_running_pod(user: User, name: str) -> dict[str, Any]:
    found: list[dict[str, Any]] = []

    def running() -> bool:
        pod = running_pod(user, name)
        found.extend([pod] if pod else [])
        return bool(found)

    processes.wait_until(running, f"{name} is at work", seconds=300)
    return found[0]


def test_a_killed_pod_is_retried(user: User) -> None:
    user.upload(MINILM)
    name = user.apply(user.manifest(MINILM))
    pod = wait_for_running_pod(user, name)
    container = pod["status"]["containerStatuses"][0]["containerID"].removeprefix("containerd://")
    user.cluster.containerd.ctr("task", "kill", "--signal", str(int(signal.SIGKILL)), container)

    ended = user.wait(name, "Complete", seconds=400)
    assert ended.status["attempts"] == 2
    assert ended.status["verification"]["verdict"] == "Verified"
    assert len(user.jobs()) == 1
    first = next(p for p in user.pods(name) if p["metadata"]["uid"] == pod["metadata"]["uid"])
    assert first["status"]["containerStatuses"][0]["state"]["terminated"]["exitCode"] == 137
    assert not {key for key in user.keys("minilm/onnx/") if key.startswith(".staging")}


def test_a_pod_above_its_memory_limit_is_not_retried(user: User) -> None:
    user.upload(FACTORY_ALLOCATES)
    limit = {"resources": {"limits": {"memory": "1Gi"}}}
    template = {"spec": {"containers": [{"name": "exporter", **limit}]}}
    ended = user.wait(user.apply(user.manifest(FACTORY_ALLOCATES, podTemplate=template)), "Failed")

    assert ended.failure["reason"] == "OutOfMemory"
    assert "limit 1.00 GiB" in ended.failure["message"]
    assert "peak 1.00 GiB" in ended.failure["message"]
    assert "podTemplate" in ended.failure["hint"]
    assert len(user.pods(ended.name)) == 1
    assert not user.keys(f"{FACTORY_ALLOCATES.name}/onnx/") & {"model.onnx", "manifest.json"}


@pytest.mark.nightly
def test_an_operator_that_was_down_finds_the_result(user: User) -> None:
    user.upload(MINILM)
    name = user.apply(user.manifest(MINILM))
    wait_for_running_pod(user, name)
    (job,) = user.jobs()
    product.scale_operator(user.cluster, 0)
    try:
        user.kubectl(
            *("wait", f"job/{job['metadata']['name']}"),
            *("--for=condition=Complete", "--timeout=300s"),
        )
        assert "Complete" not in {c["type"] for c in user.get(name)["status"]["conditions"]}
    finally:
        product.scale_operator(user.cluster, 1)

    ended = user.wait(name, "Complete", seconds=300)
    assert ended.status["verification"]["verdict"] == "Verified"
    assert ended.status["artifact"]["uri"].endswith("/model.onnx")
    assert [found["metadata"]["uid"] for found in user.jobs()] == [job["metadata"]["uid"]]
    assert len(user.pods(name)) == 1


@pytest.mark.nightly
def test_an_export_that_waits_for_a_gpu_reports_it(user: User) -> None:
    """The GPU is a resource of the node: none is left, so the pod waits; then it is scheduled."""
    user.cluster.advertise("nvidia.com/gpu", 0)
    try:
        user.upload(DIGITS)
        name = user.apply(user.manifest(DIGITS))

        def waits() -> bool:
            conditions = user.get(name).get("status", {}).get("conditions", [])
            return any(
                c["type"] == "Scheduled" and "nvidia.com/gpu" in c["message"] for c in conditions
            )

        processes.wait_until(waits, "the status says what the pod waits for", seconds=300)
        status = user.get(name)["status"]
        assert status["phase"] == "Pending"
        (scheduled,) = [c for c in status["conditions"] if c["type"] == "Scheduled"]
        assert (scheduled["status"], scheduled["reason"]) == ("False", "Unschedulable")
    finally:
        user.cluster.advertise("nvidia.com/gpu", 2)

    ended = user.wait(name, "Complete")
    (pod,) = user.admitted_pods(name)
    assert pod["spec"]["containers"][0]["resources"]["limits"]["nvidia.com/gpu"] == "1"
    assert ended.condition("Scheduled")["status"] == "True"


@pytest.mark.nightly
def test_the_pod_template_can_request_another_vendor_s_gpu(user: User) -> None:
    user.cluster.advertise("amd.com/gpu", 1)
    user.upload(DIGITS)
    resources = {"resources": {"limits": {"amd.com/gpu": "1"}}}
    template = {"spec": {"containers": [{"name": "exporter", **resources}]}}
    name = user.apply(user.manifest(DIGITS, podTemplate=template))
    user.wait(name, "Complete")
    (pod,) = user.admitted_pods(name)
    limits = pod["spec"]["containers"][0]["resources"]["limits"]
    assert limits["amd.com/gpu"] == "1"
    assert "nvidia.com/gpu" not in limits
