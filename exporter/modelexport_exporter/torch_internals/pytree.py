"""torch's pytrees: nested arguments as a flat list of leaves and the structure around them.

torch.export and torch.jit flatten arguments and results with this module; only the same functions
give the same leaves in the same order. torch has no public name for it.
"""

from __future__ import annotations

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
    "tree_flatten",
    "tree_leaves",
    "tree_map",
    "tree_unflatten",
]


def captured_structure(module: torch.nn.Module) -> TreeSpec | None:
    """Return the structure of `(args, kwargs)` of a captured program; None for other modules."""
    found = getattr(module, "_in_spec", None)
    return found if isinstance(found, TreeSpec) else None
