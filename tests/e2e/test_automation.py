"""From a training that completes to verified artifacts, without a user."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import onnxruntime
import pytest

from bed import processes
from cluster.operator.trainings import KINDS, crd, dated, now
from e2e import product, trainings
from e2e.product import User
from modelexport_operator.triggers.kinds import WatchedKind
from models import digits
from unit.operator.triggers.trainings import SUCCEEDED, UNFINISHED

pytestmark = pytest.mark.node

FOLDS = [f"fold-{number}" for number in range(5)]


def apply(user: User, manifest: dict[str, Any]) -> None:
    user.kubectl("apply", "--filename", "-", stdin=json.dumps(manifest))


def exports(user: User) -> list[dict[str, Any]]:
    found = user.cluster.get("modelexports", "--namespace", user.namespace)
    items: list[dict[str, Any]] = found["items"]
    return items


def the_export(user: User) -> str:
    """Wait for the ModelExport of a trigger; return its name."""
    processes.wait_until(lambda: bool(exports(user)), "a trigger makes a ModelExport", seconds=300)
    (found,) = exports(user)
    name: str = found["metadata"]["name"]
    return name


def train(user: User, job: dict[str, Any]) -> None:
    apply(user, job)
    name = job["metadata"]["name"]
    user.kubectl("wait", f"job/{name}", "--for=condition=Complete", "--timeout=240s")


def accuracy(user: User, prefix: str) -> float:
    """Return the share of held-out digits that a published file recognises."""
    model = user.read(f"{prefix}model.onnx")
    session = onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"])
    images, labels = digits.held_out()
    (logits,) = session.run(None, {"image": images.numpy()})
    return float(np.mean(logits.argmax(axis=1) == labels.numpy()))


def test_all_folds_of_a_training_are_exported_when_it_completes(
    user: User, exporter_image: str
) -> None:
    trainings.prepare(user)
    apply(user, trainings.folds_trigger(user))
    train(user, trainings.job(user, exporter_image, "run-7"))
    ended = user.wait(the_export(user), "Complete", seconds=400)

    items = ended.status["items"]
    assert (items["total"], items["succeeded"], items["failed"]) == (5, 5, 0)
    assert ended.condition("Complete")["reason"] == "Published"
    (export_job,) = [job for job in user.jobs() if job["metadata"]["name"] != "run-7"]
    assert export_job["spec"]["completionMode"] == "Indexed"
    assert export_job["status"]["succeeded"] == 2
    for fold in FOLDS:
        assert accuracy(user, f"onnx/run-7/{fold}/") > 0.93
    files = {user.read(f"onnx/run-7/{fold}/model.onnx") for fold in FOLDS}
    assert len(files) == 5, "each fold has weights of its own"
    results = trainings.results(user, ended.status)
    assert {entry["verdict"] for entry in results.values()} == {"Verified"}
    page = ended.status["reportUri"].removeprefix(f"s3://{user.bucket}/")
    assert all(fold in user.read(page).decode() for fold in FOLDS)


@pytest.mark.nightly
def test_a_training_that_completes_while_the_operator_is_down_is_exported_once(
    user: User, exporter_image: str
) -> None:
    """A corrupt fold is reported, and maxFailed allows it."""
    trainings.prepare(user)
    apply(user, trainings.folds_trigger(user, maxFailed=1))
    product.scale_operator(user.cluster, 0)
    try:
        train(user, trainings.job(user, exporter_image, "run-8", corrupt=3))
        assert not exports(user)
    finally:
        product.scale_operator(user.cluster, 1)
    ended = user.wait(the_export(user), "Complete", seconds=400)

    items = ended.status["items"]
    assert (items["total"], items["succeeded"], items["failed"]) == (5, 4, 1)
    complete = ended.condition("Complete")
    assert complete["reason"] == "PartiallyPublished"
    assert "4 of 5" in complete["message"]
    assert items["reasons"] == {"CheckpointCorrupt": 1}
    results = trainings.results(user, ended.status)
    assert results["fold-3.pt"]["reason"] == "CheckpointCorrupt"
    published = [fold for fold in FOLDS if user.keys(f"onnx/run-8/{fold}/") & {"manifest.json"}]
    assert published == [fold for fold in FOLDS if fold != "fold-3"]
    assert accuracy(user, "onnx/run-8/fold-4/") > 0.93
    product.scale_operator(user.cluster, 0)
    product.scale_operator(user.cluster, 1)
    assert the_export(user) == ended.name
    status = user.cluster.get("modelexporttrigger", "folds", "--namespace", user.namespace)
    assert status["status"]["triggered"] == 1


def write(user: User, kind: WatchedKind, name: str, status: dict[str, Any]) -> None:
    """Create a training, and write the status that its controller writes."""
    apply(user, {"apiVersion": kind.api_version, "kind": kind.kind, "metadata": {"name": name}})
    user.kubectl(
        *("patch", f"{kind.resource}.{kind.group}", name, "--subresource=status"),
        *("--type=merge", "--patch", json.dumps({"status": dated(status, now())})),
    )


@pytest.mark.nightly
def test_trainings_of_other_kinds_are_exported_when_they_succeed(user: User) -> None:
    """Of TrainJob, PyTorchJob, RayJob and JobSet one succeeds; others fail, restart or wait."""
    trainings.prepare(user)
    kinds = [kind for name, kind in KINDS.items() if name != "Job"]
    for kind in kinds:
        user.cluster.kubectl("apply", "--filename", "-", stdin=json.dumps(crd(kind)))
    user.cluster.wait_for_crds()
    user.put("trained/model.pt", digits.checkpoint_bytes())
    for kind in kinds:
        template = trainings.spec(user, "trained/model.pt", "onnx/$(metadata.name)/")
        apply(user, trainings.trigger(kind.resource, {"kind": kind.kind}, template))
    for number, (name, _doing, status) in enumerate(UNFINISHED):
        if name != "Job":
            write(user, KINDS[name], f"other-{number}", status)
    for kind in kinds:
        write(user, kind, f"good-{kind.resource}", SUCCEEDED[kind.kind])

    processes.wait_until(lambda: len(exports(user)) >= len(kinds), "exports", seconds=300)
    for export in exports(user):
        user.wait(export["metadata"]["name"], "Complete", seconds=400)
    assert len(exports(user)) == len(kinds)
    for kind in kinds:
        assert accuracy(user, f"onnx/good-{kind.resource}/") > 0.93
