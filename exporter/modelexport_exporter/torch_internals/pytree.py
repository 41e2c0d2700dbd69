"""torch's pytrees: nested arguments as a flat list of leaves and the structure around them.

torch.export and torch.jit flatten arguments and results with this module; only the same functions
give the same leaves in the same order. torch has no public name for it.
"""

from __future__ import annotations

from typing import Any

import torch
from torch.utils._pytree import (
    BUILTIN_TYPES,
    SUPPORTED_NODES,
    TreeSpec,
    tree_flatten,
    tree_leaves,
    tree_map,
    tree_unflatten,
)

__all__ = [
    "BUILTIN_TYPES",
    "SUPPORTED_NODES",
    "TreeSpec",
    "captured_structure",
    "tensors_in",
    "tree_flatten",
    "tree_leaves",
    "tree_map",
    "tree_unflatten",
]


def tensors_in(tree: Any) -> list[torch.Tensor]:  # noqa: ANN401
    """Return the leaves that are tensors, in order."""
    return [leaf for leaf in tree_leaves(tree) if isinstance(leaf, torch.Tensor)]


def captured_structure(module: torch.nn.Module) -> TreeSpec | None:
    """Return the structure of `(args, kwargs)` of a captured program; None for other modules."""
    found = getattr(module, "_in_spec", None)
    return found if isinstance(found, TreeSpec) else None
