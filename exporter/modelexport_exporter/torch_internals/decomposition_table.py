"""torch's table of operators that are written in Python with smaller operators.

`torch.export.default_decompositions()` is public, but holds only what torch.export decomposes by
default; the exporter looks definitions up among all of them.
"""

from __future__ import annotations

from torch._decomp import decomposition_table

from modelexport_exporter.torch_internals.operators import find_overload, is_composite

__all__ = ["decomposition_table", "has_aten_decomposition", "is_made_of_others"]


def is_made_of_others(name: str) -> bool:
    """Return whether torch.export never sees an operator: torch defines it by others in C++."""
    overload = find_overload(name)
    return overload is not None and is_composite(overload)


def has_aten_decomposition(name: str) -> bool:
    """Return whether torch computes an operator by smaller ATen operators, not by prims alone."""
    overload = find_overload(name)
    function = decomposition_table.get(overload) if overload is not None else None
    return function is not None and "_refs" not in str(getattr(function, "__module__", ""))
