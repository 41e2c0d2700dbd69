"""Count negative numbers in index tensors from the end, for the tracer of TorchScript.

torch's exporter computes a position in the flattened tensor from several index tensors without
wrapping negative numbers: -1 is the element before the row instead of the last of the row.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from modelexport_exporter.torch_internals.torchscript_graph import is_traced_constant

_INTEGERS = (torch.int8, torch.int16, torch.int32, torch.int64)
_MASKS = (torch.bool, torch.uint8)


def from_the_start(x: Tensor, index: Any) -> Any:  # noqa: ANN401
    """Return the index of x without negative numbers in tensors; NotImplemented if it has none."""
    parts = list(index) if isinstance(index, tuple) else [index]
    dims = _dims(x, parts)
    if dims is None:
        return NotImplemented
    changed = False
    for position, (part, dim) in enumerate(zip(parts, dims, strict=True)):
        if isinstance(part, Tensor) and part.dtype in _INTEGERS and part.dim() > 0:
            if not _may_be_negative(part):
                continue
            parts[position] = torch.where(part < 0, part + x.shape[dim], part)
            changed = True
    if not changed:
        return NotImplemented
    return tuple(parts)


def _dims(x: Tensor, parts: Sequence[Any]) -> list[int] | None:
    """Return the dim of x at which each part begins; None for forms of another kind."""
    widths = []
    for part in parts:
        if part is None or part is Ellipsis:
            widths.append(0)
        elif isinstance(part, Tensor):
            widths.append(part.dim() if part.dtype in _MASKS else 1)
        elif isinstance(part, (bool, str)) or not isinstance(part, (int, slice, list, range)):
            return None
        else:
            widths.append(1)
    spare = x.dim() - sum(widths)
    begins, dim = [], 0
    for part, width in zip(parts, widths, strict=True):
        begins.append(dim)
        dim += spare if part is Ellipsis else width
    return begins


def _may_be_negative(part: Tensor) -> bool:
    """Return whether the index may be negative at run time; a constant is checked by value."""
    if not torch.jit.is_tracing():  # type: ignore[attr-defined, no-untyped-call]
        return bool((part < 0).any())
    return not is_traced_constant(part) or bool((part < 0).any())
