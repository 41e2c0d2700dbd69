"""torch's pytrees: nested arguments as a flat list of leaves and the structure around them.

torch.export and torch.jit flatten arguments and results with this module; only the same functions
give the same leaves in the same order. torch has no public name for it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
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
    "steps",
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


def steps(structure: TreeSpec) -> list[str | int]:
    """Return the key, the name of the field or the position of each child."""
    count = structure.num_children
    for keys in _keys(structure.type, structure.context):
        if isinstance(keys, list | tuple) and len(keys) == count:
            return [str(key) for key in keys]
    return list(range(count))


def _keys(kind: Any, context: Any) -> Iterator[Any]:  # noqa: ANN401 - what torch stores
    """Yield what may be the keys or fields of a container."""
    if kind is defaultdict:
        yield context[1]
    elif isinstance(kind, type) and issubclass(kind, dict):
        yield context
    elif hasattr(context, "_fields"):  # the class of a named tuple
        yield context.__match_args__
    elif isinstance(kind, type) and issubclass(kind, tuple):
        yield getattr(kind, "__match_args__", None)  # such as torch.return_types.topk
    elif isinstance(context, list | tuple):
        # Classes that were registered store a list of keys, perhaps as the first of several values.
        yield from (keys for keys in (context, *context) if _are_names(keys))


def _are_names(keys: object) -> bool:
    return isinstance(keys, list | tuple) and all(isinstance(key, str) for key in keys)
