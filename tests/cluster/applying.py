"""`kubectl apply` of manifests."""

from __future__ import annotations

import json
from typing import Any

import pytest

from bed.control_plane import ControlPlane
from bed.processes import BedError


def apply(cluster: ControlPlane, namespace: str, manifest: dict[str, Any]) -> dict[str, Any]:
    """Return what is stored. Raises BedError."""
    wanted = json.dumps(manifest)
    output = cluster.kubectl("apply", "-n", namespace, "-o", "json", "-f", "-", stdin=wanted)
    stored: dict[str, Any] = json.loads(output)
    return stored


def check_refused(
    cluster: ControlPlane, namespace: str, manifest: dict[str, Any], field: str, words: str
) -> None:
    """Apply a manifest that must be rejected with this text about this field."""
    with pytest.raises(BedError) as caught:
        apply(cluster, namespace, manifest)
    assert field in str(caught.value)
    assert words in str(caught.value)
