"""Pytest fixtures over the bed. A level that cannot start here skips its tests and says why.

With MODELEXPORT_CI=1 it fails them instead: in CI nothing that should run may silently not run.

`control_plane` and `node_cluster` are fixtures of the packages that use them: they end with the
package's last test, for an idle control plane takes a seventh of a CPU.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from bed import beds, golang, images, places, preflight
from bed.control_plane import ControlPlane
from bed.node import NodeCluster
from bed.preflight import Level
from bed.s3 import S3Server


def require(level: Level) -> None:
    """Skip (in CI: fail) unless LEVEL can start on this machine."""
    _refuse(f"level {level}", preflight.obstacles(level, preflight.look(level)))


def _refuse(what: str, reasons: list[str]) -> None:
    if not reasons:
        return
    sentence = f"test bed, {what}: {'; '.join(reasons)}"
    if os.environ.get("MODELEXPORT_CI") == "1":
        pytest.fail(sentence, pytrace=False)
    pytest.skip(sentence)


@pytest.fixture(scope="session")
def s3() -> Iterator[S3Server]:
    """An S3 server on the loopback."""
    require("s3")
    with beds.s3_running() as server:
        yield server


@pytest.fixture
def bucket(s3: S3Server) -> Iterator[str]:
    """A fresh bucket on `s3`, deleted with its content afterwards."""
    name = s3.bucket()
    yield name
    s3.delete_bucket(name)


@contextmanager
def running_control_plane() -> Iterator[ControlPlane]:
    """etcd, API server and controller manager: objects are real, pods never run."""
    require("control-plane")
    with beds.control_plane_running() as plane:
        yield plane


@pytest.fixture
def namespace(control_plane: ControlPlane) -> Iterator[str]:
    """A fresh namespace on `control_plane`; its deletion goes on in the background."""
    name = f"test-{secrets.token_hex(4)}"
    control_plane.create_namespace(name)
    yield name
    control_plane.delete_namespace(name, wait=False)


@pytest.fixture(scope="session")
def helm() -> Path:
    """The helm command."""
    require("helm")
    return golang.HELM.binary("helm")


@contextmanager
def running_node() -> Iterator[NodeCluster]:
    """A real single-node cluster with an S3 server (`.s3`) that its pods reach."""
    require("node")
    with beds.node_running() as cluster:
        yield cluster


@pytest.fixture
def node_namespace(node_cluster: NodeCluster) -> Iterator[str]:
    """A fresh namespace on `node_cluster`; its deletion goes on in the background."""
    name = f"test-{secrets.token_hex(4)}"
    node_cluster.create_namespace(name)
    yield name
    node_cluster.delete_namespace(name, wait=False)


@pytest.fixture
def node_bucket(node_cluster: NodeCluster) -> Iterator[str]:
    """A fresh bucket on the S3 server of `node_cluster`."""
    name = node_cluster.s3.bucket()
    yield name
    node_cluster.s3.delete_bucket(name)


def load_image(cluster: NodeCluster, target: images.Target) -> str:
    """Build an image from this checkout and load it on the node; return its name."""
    reasons = preflight.image_obstacles(target, images.built(target), places.free_bytes())
    _refuse(f"image {target}", reasons)
    return cluster.load_image(images.build(target))
