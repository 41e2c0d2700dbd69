"""How far a symbolic size may grow: what a loop over a dim must be unrolled for."""

from __future__ import annotations

import torch

LONGEST = 1 << 20
"""The length that is assumed where nothing says how long a dim may become."""


def largest(size: int | torch.SymInt) -> int:
    """Return the largest value that the size may take."""
    if torch.jit.is_tracing():  # type: ignore[attr-defined, no-untyped-call]
        return LONGEST
    if isinstance(size, int):
        return size
    known = size.node.shape_env
    assert known is not None
    bound = known.bound_sympy(size.node.expr).upper
    try:
        return min(int(bound), LONGEST)
    except (TypeError, ValueError, OverflowError):
        return LONGEST
