"""The API server takes the NetworkPolicies of the chart."""

from __future__ import annotations

from pathlib import Path

import pytest

from bed import processes
from bed.control_plane import ControlPlane
from unit.chart.rendering import CHART

pytestmark = pytest.mark.control_plane


def test_the_api_server_takes_them(control_plane: ControlPlane, namespace: str, helm: Path) -> None:
    only = ["--show-only", "templates/networkpolicy.yaml"]
    text = processes.call([helm, "template", "modelexport", CHART, "--namespace", namespace, *only])
    made = control_plane.kubectl(
        *("apply", "--dry-run=server", "--validate=strict", "-n", namespace, "-f", "-"), stdin=text
    )
    assert made.splitlines() == [
        f"networkpolicy.networking.k8s.io/{name} created (server dry run)"
        for name in ("modelexport-exporter", "modelexport")
    ]
