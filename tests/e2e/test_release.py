"""`helm test` on the installed release."""

from __future__ import annotations

from pathlib import Path

import pytest

from bed import processes
from bed.node import NodeCluster
from e2e.product import RELEASE, SYSTEM

pytestmark = pytest.mark.node


def test_helm_test_finds_a_replica_that_leads(installed: NodeCluster, helm: Path) -> None:
    said = processes.call(
        [
            *(helm, "test", RELEASE, "--kubeconfig", installed.kubeconfig),
            *("--namespace", SYSTEM, "--timeout", "90s"),
        ]
    )
    assert "Succeeded" in said
