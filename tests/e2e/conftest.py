"""The installed product, and a user of it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from bed import images
from bed.fixtures import load_image, running_node
from bed.node import NodeCluster
from e2e import product
from e2e.product import User

GPUS = 2


@pytest.fixture(scope="package")
def node_cluster() -> Iterator[NodeCluster]:
    """The node of these tests."""
    with running_node() as cluster:
        yield cluster


@pytest.fixture(scope="package")
def base_image(node_cluster: NodeCluster) -> str:
    """The name of a Debian image with Python, loaded on the node."""
    return node_cluster.load_image(images.base_image())


@pytest.fixture(scope="package")
def operator_image(node_cluster: NodeCluster) -> str:
    """The name of the project's operator image, loaded on the node."""
    return load_image(node_cluster, "operator")


@pytest.fixture(scope="package")
def exporter_image(node_cluster: NodeCluster) -> str:
    """The name of the exporter image without CUDA, loaded on the node."""
    return load_image(node_cluster, "exporter-cpu")


@pytest.fixture(scope="package")
def installed(
    node_cluster: NodeCluster, helm: Path, operator_image: str, exporter_image: str
) -> Iterator[NodeCluster]:
    """A node with two (simulated) GPUs and the installed chart."""
    node_cluster.advertise("nvidia.com/gpu", GPUS)
    product.install(node_cluster, helm, operator_image, exporter_image)
    yield node_cluster
    product.uninstall(node_cluster, helm)


@pytest.fixture
def user(installed: NodeCluster, node_namespace: str, node_bucket: str) -> User:
    """A user with a fresh namespace, which enforces restricted pods, a bucket and its keys."""
    installed.kubectl(
        *("label", "namespace", node_namespace),
        "pod-security.kubernetes.io/enforce=restricted",
    )
    somebody = User(installed, node_namespace, node_bucket)
    somebody.create_secret()
    return somebody
