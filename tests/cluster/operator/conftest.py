"""The control plane with the CRDs, and an operator that watches one namespace."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

import pytest

from bed.control_plane import ControlPlane
from cluster.operator.forked import Forker
from cluster.operator.kubelet import LogServer
from cluster.operator.replica import Operators, Replica, prepare
from cluster.operator.world import World


@pytest.fixture(scope="package")
def operator_kubeconfig(control_plane: ControlPlane) -> Path:
    return prepare(control_plane)


@pytest.fixture(scope="package")
def logs(control_plane: ControlPlane, operator_kubeconfig: Path) -> Iterator[LogServer]:
    server = LogServer(control_plane)
    yield server
    server.close()


@pytest.fixture
def world(control_plane: ControlPlane, operator_kubeconfig: Path, namespace: str) -> World:
    label = "pod-security.kubernetes.io/enforce=restricted"
    control_plane.kubectl("label", "namespace", namespace, label)
    return World(control_plane, namespace)


@pytest.fixture(scope="package")
def forker(control_plane: ControlPlane) -> Iterator[Forker]:
    started = Forker.start(control_plane.run.log_of("forker"))
    yield started
    started.close()


@pytest.fixture
def operators(
    control_plane: ControlPlane, operator_kubeconfig: Path, namespace: str, forker: Forker
) -> Iterator[Operators]:
    started = Operators(control_plane, namespace, operator_kubeconfig, forker)
    before = list(control_plane.run.children)
    yield started
    for child in [entry for entry in control_plane.run.children if entry not in before]:
        with contextlib.suppress(ProcessLookupError):
            child.stop()
        print(f"--- {child.name}", child.last_lines(), sep="\n")  # shown where the test failed
        control_plane.run.children.remove(child)


@pytest.fixture
def operator(operators: Operators) -> Replica:
    return operators.start()
