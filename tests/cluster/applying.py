"""What `kubectl apply` makes of a manifest."""

from __future__ import annotations

import json
from typing import Any

from bed.control_plane import ControlPlane


def apply(cluster: ControlPlane, namespace: str, manifest: dict[str, Any]) -> dict[str, Any]:
    """Return what is stored. Raises BedError."""
    wanted = json.dumps(manifest)
    output = cluster.kubectl("apply", "-n", namespace, "-o", "json", "-f", "-", stdin=wanted)
    stored: dict[str, Any] = json.loads(output)
    return stored
