"""The versions of the modules that wrote a state_dict, which decide how it is read.

torch.save keeps them with the tensors (`_metadata`): a module that changed what it stores reads
older states by them. Renaming and casting make new dicts, and safetensors has no place for them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch

Versions = Mapping[str, Mapping[str, Any]]
"""From the path of a module, empty for the outermost, to its `version`."""


def stored_versions(state: Mapping[str, Any]) -> Versions:
    """Return what the checkpoint says; empty where it says nothing."""
    found = getattr(state, "_metadata", None)
    return found if isinstance(found, Mapping) else {}


def with_versions(
    module: torch.nn.Module, state: Mapping[str, Any], stored: Versions
) -> Mapping[str, Any]:
    """Return the state with the versions under the names that the module has.

    Without any stored, torch takes the state for one of the oldest torch; see `as_of_today`.
    """
    own = _own(module)
    for root in sorted(stored, key=len):
        prefix = f"{root}." if root else ""
        if all((f"{prefix}{path}" if path else root) in stored for path in own):
            return _labelled(
                state, {path: stored[f"{prefix}{path}" if path else root] for path in own}
            )
    return state


def as_of_today(module: torch.nn.Module, state: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the state as one that this module had written itself."""
    return _labelled(state, _own(module))


def _own(module: torch.nn.Module) -> Versions:
    return stored_versions(module.state_dict(keep_vars=True))


class _Labelled(dict[str, Any]):
    """A state_dict with `_metadata`, an attribute that a plain dict cannot have."""

    _metadata: Versions


def _labelled(state: Mapping[str, Any], versions: Versions) -> Mapping[str, Any]:
    labelled = _Labelled(state)
    labelled._metadata = {path: dict(entry) for path, entry in versions.items()}  # noqa: SLF001
    return labelled
