"""The versions of the modules that wrote a state_dict, which decide how it is read.

torch.save keeps them with the tensors (`_metadata`): a module that changed what it stores reads
older states by them. Renaming and casting make new dicts, and safetensors has no place for them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch

from modelexport_exporter.torch_internals.state_dicts import Versions, set_versions, versions_of


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
            return set_versions(
                state, {path: stored[f"{prefix}{path}" if path else root] for path in own}
            )
    return state


def as_of_today(module: torch.nn.Module, state: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the state as one that this module had written itself."""
    return set_versions(state, _own(module))


def _own(module: torch.nn.Module) -> Versions:
    return versions_of(module.state_dict(keep_vars=True))
