"""What `retry` does with an export, depending on its state; and what it keeps meanwhile. Pure.

A ModelExport that has ended never runs again (the operator guarantees it), so a failed one is
deleted and created again. Between the two, what is created exists only in a file: so `retry` that
was killed can be run again at any point, and ends the same.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from modelexport_cli.cluster.export import Export
from modelexport_cli.cluster.request import Access


@dataclass(frozen=True)
class Resume:
    """Set spec.suspend to false."""


@dataclass(frozen=True)
class Recreate:
    """Delete it, wait until it is gone, and create it again."""


@dataclass(frozen=True)
class Nothing:
    """It runs, or has succeeded."""

    sentence: str


def decide(export: Export) -> Resume | Recreate | Nothing:
    """Return what to do."""
    if export.deleting or export.failure is not None or export.is_partial:
        return Recreate()
    if export.end is not None:
        return Nothing(
            f"{export.name} is {export.state}: there is nothing to retry. To export a checkpoint "
            "that changed since, submit the manifest under another name"
        )
    if export.suspended:
        return Resume()
    return Nothing(f"{export.name} has not ended ({export.state}): there is nothing to retry")


def record_path(environ: Mapping[str, str], home: Path, access: Access, name: str) -> Path:
    """Return the file that holds an export between its deletion and its creation."""
    state = environ.get("XDG_STATE_HOME") or str(home / ".local" / "state")
    server = hashlib.sha256(access.server.encode()).hexdigest()[:12]
    return Path(state) / "modelexport" / "retry" / f"{server}-{access.namespace}-{name}.json"


def encode(body: Mapping[str, Any]) -> str:
    """Return what is created, as JSON that `kubectl create -f` takes."""
    return json.dumps(body, indent=1)


def blockers(raw: Mapping[str, Any]) -> list[str]:
    """Return the finalizers that an object waits for, without those of Kubernetes."""
    found = raw["metadata"].get("finalizers") or []
    return [entry for entry in found if entry not in {"foregroundDeletion", "orphan"}]
