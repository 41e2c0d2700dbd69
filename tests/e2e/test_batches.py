"""A batch whose pod is killed: the rest is exported, and nothing twice."""

from __future__ import annotations

import io
import signal
from typing import Any

import pytest
import torch

from bed import processes
from e2e import trainings
from e2e.product import User
from models import digits

pytestmark = pytest.mark.node

CHECKPOINTS = 12
INDEX = "batch.kubernetes.io/job-completion-index"


def upload(user: User) -> None:
    """Put checkpoints of one network with different weights into the bucket."""
    network, _ = digits.trained()
    for number in range(CHECKPOINTS):
        weights = {
            name: tensor * (1 + number / 100) if tensor.is_floating_point() else tensor
            for name, tensor in network.state_dict().items()
        }
        buffer = io.BytesIO()
        torch.save({"model": weights}, buffer)
        user.put(f"sweep/run-{number:02}.pt", buffer.getvalue())


def published(user: User) -> set[str]:
    """Return the checkpoints whose artifact is published."""
    return {key.partition("/")[0] for key in user.keys("onnx/") if key.endswith("/manifest.json")}


def at_work(user: User, name: str) -> list[dict[str, Any]]:
    return [pod for pod in user.pods(name) if pod["status"]["phase"] == "Running"]


def test_a_killed_pod_is_replaced_by_one_that_continues(user: User) -> None:
    trainings.prepare(user)
    upload(user)
    manifest = {
        "apiVersion": "modelexport.dev/v1alpha1",
        "kind": "ModelExport",
        "metadata": {"name": "sweep"},
        "spec": trainings.spec(user, "sweep/run-*.pt", "onnx/{stem}/", parallelism=2),
    }
    name = user.apply(manifest)
    processes.wait_until(lambda: len(published(user)) >= 2, "two are published", seconds=240)
    victim = at_work(user, name)[0]
    index = victim["metadata"]["annotations"][INDEX]
    container = victim["status"]["containerStatuses"][0]["containerID"]
    user.cluster.containerd.ctr(
        *("task", "kill", "--signal", str(int(signal.SIGKILL))),
        container.removeprefix("containerd://"),
    )
    before = {key: user.etag(f"onnx/{key}/model.onnx") for key in published(user)}
    # Items that were counted stay counted.
    ended = user.wait(name, "Complete", seconds=500)

    items = ended.status["items"]
    assert (items["total"], items["succeeded"], items["failed"]) == (CHECKPOINTS, CHECKPOINTS, 0)
    assert published(user) == {f"run-{number:02}" for number in range(CHECKPOINTS)}
    assert {key: user.etag(f"onnx/{key}/model.onnx") for key in before} == before
    again = [pod for pod in user.pods(name) if pod["metadata"]["annotations"][INDEX] == index]
    assert len(again) == 2
    results = trainings.results(user, ended.status)
    assert {entry["verdict"] for entry in results.values()} == {"Verified"}
    staged = {key for key in user.keys("onnx/") if "/.staging/" in key}
    assert not staged
