"""Sizes that a graph may have to compute: upper bounds, scaled sizes, sizes as tensors."""

from __future__ import annotations

from fractions import Fraction

import torch
from torch import Tensor

Size = int | torch.SymInt

LONGEST = 1 << 20
"""The upper bound of a dim that has none."""
_FINEST = 1 << 12
"""The largest denominator of a scale factor."""


def largest(size: Size) -> int:
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


def scaled_size(size: Size, factor: float) -> Size:
    """Return floor(size * factor), which a graph computes from a dynamic size."""
    exact = Fraction(factor).limit_denominator(_FINEST)
    return size * exact.numerator // exact.denominator


def number(size: Size, dtype: torch.dtype, device: torch.device) -> Tensor:
    """Return a size as a scalar tensor."""
    one = torch.ones((), dtype=dtype, device=device)
    return one * size  # type: ignore[return-value]
