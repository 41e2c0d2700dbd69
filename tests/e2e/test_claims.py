"""From one volume to another: checkpoint and code in a claim, the artifact in a second one."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from bed.node_config import NODE_NAME
from e2e.product import Ended, User
from models.catalog import DIGITS

pytestmark = pytest.mark.node

EXPORTER = 65532
"""User, group and fsGroup of export pods, as the chart sets them."""
TRAINING = 1000
"""The user of a training job."""


@dataclass(frozen=True)
class Volume:
    """A claim, and the directory of this machine that is its volume."""

    claim: str
    directory: Path


@pytest.fixture
def training(user: User) -> Iterator[Volume]:
    """A hostPath volume as a training job leaves it: its own files, and others may read them."""
    with _volume(user, "training", "hostPath") as volume:
        _train(volume)
        yield volume


def _train(volume: Volume) -> None:
    run = volume.directory / "run-7"
    DIGITS.checkpoint(run)
    (run / "code").mkdir()
    shutil.copy(DIGITS.code, run / "code")
    for path in (volume.directory, *volume.directory.rglob("*")):
        path.chmod(0o755 if path.is_dir() else 0o644)
        os.chown(path, TRAINING, TRAINING)


@pytest.fixture
def models(user: User) -> Iterator[Volume]:
    """A local volume of root, whose group the kubelet changes."""
    with _volume(user, "models", "local") as volume:
        yield volume


@contextmanager
def _volume(user: User, claim: str, kind: str) -> Iterator[Volume]:
    """Make a volume of a kind, with a claim; the volume is removed at the end."""
    name = f"{user.namespace}-{claim}"
    volume = Volume(claim, user.cluster.run.subdirectory(name))
    volume.directory.chmod(0o755)
    modes = {"accessModes": ["ReadWriteOnce"], "storageClassName": ""}
    on_the_node = {"key": "kubernetes.io/hostname", "operator": "In", "values": [NODE_NAME]}
    user.cluster.apply(
        {
            "apiVersion": "v1",
            "kind": "PersistentVolume",
            "metadata": {"name": name},
            "spec": {
                **modes,
                "capacity": {"storage": "1Gi"},
                "claimRef": {"namespace": user.namespace, "name": claim},
                kind: {"path": str(volume.directory)},
                "nodeAffinity": {
                    "required": {"nodeSelectorTerms": [{"matchExpressions": [on_the_node]}]}
                },
            },
        }
    )
    user.cluster.apply(
        {
            "apiVersion": "v1",
            "kind": "PersistentVolumeClaim",
            "metadata": {"name": claim, "namespace": user.namespace},
            "spec": {
                **modes,
                "volumeName": name,
                "resources": {"requests": {"storage": "1Gi"}},
            },
        }
    )
    yield volume
    user.cluster.kubectl("delete", "persistentvolume", name, "--wait=false")


def manifest(name: str, destination: str) -> dict[str, Any]:
    made = DIGITS.manifest(
        f"pvc://training/run-7/{DIGITS.checkpoint_name}", "pvc://training/run-7/code/", destination
    )
    return {**made, "metadata": {"name": name}}


def test_a_checkpoint_of_a_volume_is_published_to_a_volume(
    user: User, training: Volume, models: Volume
) -> None:
    """Also to the first one, which is refused: hostPath volumes do not take an fsGroup."""
    before = _owners(training)
    verified = user.apply(manifest("digits", "pvc://models/digits/"))
    refused = user.apply(manifest("digits-back", "pvc://training/onnx/"))

    _assert_refused(user.wait(refused, "Failed"))
    ended = user.wait(verified, "Complete")
    assert ended.status["verification"]["verdict"] == "Verified"
    assert ended.status["artifact"]["uri"] == "pvc://models/digits/model.onnx"
    _assert_published(models.directory / "digits")
    assert _owners(training) == before, "the training job's files are as they were"


def _assert_refused(ended: Ended) -> None:
    assert ended.failure["reason"] == "DestinationDenied"
    hint = ended.failure["hint"]
    assert f"runs as user {EXPORTER} with the groups {EXPORTER};" in hint
    owner = f"is of user {TRAINING} and group {TRAINING} (drwxr-xr-x)."
    assert f"pvc://training/ {owner}" in hint


def _assert_published(directory: Path) -> None:
    """The artifact is whole; its owner can write it, and everybody read it."""
    document = json.loads((directory / "manifest.json").read_bytes())
    report = json.loads((directory / "report.json").read_bytes())
    assert report["verification"]["verdict"] == "Verified"
    assert report["spec"]["source"]["uri"].startswith("pvc://training/")
    files = {file["name"]: file["sha256"] for file in document["artifact"]["files"]}
    assert {"model.onnx", "report.json", "report.html"} <= set(files)
    for name, expected in files.items():
        published = directory / document["contents"][name]["path"]
        for path in (published, directory / name):
            assert hashlib.sha256(path.read_bytes()).hexdigest() == expected
    top = directory.parent.stat()
    assert (top.st_uid, top.st_gid, top.st_mode & 0o7777) == (0, EXPORTER, 0o2775)
    for path in (directory, *directory.rglob("*")):
        found = path.stat()
        modes = 0o2755 if path.is_dir() else 0o644
        assert (found.st_uid, found.st_gid, found.st_mode & 0o7777) == (EXPORTER, EXPORTER, modes)


def _owners(volume: Volume) -> dict[Path, tuple[int, int, int]]:
    found = {path: path.stat() for path in (volume.directory, *volume.directory.rglob("*"))}
    return {path: (was.st_uid, was.st_gid, was.st_mode) for path, was in found.items()}
