"""The versions of modules in a state_dict, which decide how old weights are upgraded.

`Module.state_dict()` returns a dict with an attribute `_metadata`, and `load_state_dict` reads it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Versions = Mapping[str, Mapping[str, Any]]
"""From the path of a module, empty for the outermost, to its `version`."""


class _Versioned(dict[str, Any]):
    """A state_dict with `_metadata`, an attribute that a plain dict cannot have."""

    _metadata: Versions


def has_versions(state: Mapping[str, Any]) -> bool:
    """Return whether load_state_dict finds versions in the state."""
    return hasattr(state, "_metadata")


def versions_of(state: Mapping[str, Any]) -> Versions:
    """Return the versions in the state; empty if there are none."""
    found = getattr(state, "_metadata", None)
    return found if isinstance(found, Mapping) else {}


def set_versions(state: Mapping[str, Any], versions: Versions) -> Mapping[str, Any]:
    """Return a copy of the state with these versions."""
    versioned = _Versioned(state)
    versioned._metadata = {path: dict(entry) for path, entry in versions.items()}  # noqa: SLF001
    return versioned
