"""Sizes that a graph may have to compute: upper bounds, scaled sizes, sizes as tensors."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

Size = int | torch.SymInt
Factor = float | torch.SymFloat | None
"""Of two sizes; one made of sizes is symbolic, and none is their quotient."""

LONGEST = 1 << 20
"""The upper bound of a dim that has none."""


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


def hint_of(size: Size) -> int:
    """Return the size in the capture's example; 0 where it depends on values."""
    if isinstance(size, int):
        return size
    hint = size.node.hint
    return hint if isinstance(hint, int) else 0


def smallest(size: Size) -> int:
    """Return the smallest value that the size may take, at least 1."""
    if torch.jit.is_tracing():  # type: ignore[attr-defined, no-untyped-call]
        return 1
    if isinstance(size, int):
        return size
    known = size.node.shape_env
    assert known is not None
    try:
        return max(int(known.bound_sympy(size.node.expr).lower), 1)
    except (TypeError, ValueError, OverflowError):
        return 1


def scaled_size(size: Size, factor: float | torch.SymFloat) -> Size:
    """Return size * factor, computed in double and rounded towards zero, as torch does.

    Not exactly: 50 * 0.58 is 28.999999999999996 in double, and its size 28.
    """
    if torch.jit.is_tracing():  # type: ignore[attr-defined, no-untyped-call]
        scaled = torch.as_tensor(size).to(torch.float64) * factor
        return scaled.to(torch.int64)  # type: ignore[return-value, union-attr]
    return torch.sym_int(size * factor)


def scaled_sizes(sizes: Sequence[Size], factors: Sequence[float | torch.SymFloat]) -> list[Size]:
    """Return each size times its factor, as `scaled_size` does."""
    return [scaled_size(size, by) for size, by in zip(sizes, factors, strict=True)]


def scales_exactly_in_single(size: Size, factor: float) -> bool:
    """Return whether float32 gives the same scaled size for each value that the size may take."""
    sizes = _values(size)
    single = (sizes.astype(np.float32) * np.float32(factor)).astype(np.int64)
    return np.array_equal(single, _scaled(sizes, factor))


def may_stay(size: Size, factor: float | torch.SymFloat) -> bool:
    """Return whether a value that the size may take is scaled to itself: 8 by 1.1."""
    if isinstance(factor, torch.SymFloat | torch.SymInt):
        return True
    sizes = _values(size)
    return factor != 1 and bool((_scaled(sizes, factor) == sizes).any())


def _scaled(sizes: NDArray[np.int64], factor: float) -> NDArray[np.int64]:
    return (sizes * float(factor)).astype(np.int64)


def _values(size: Size) -> NDArray[np.int64]:
    """Return the values that a size may take."""
    if isinstance(size, int) and not torch.jit.is_tracing():  # type: ignore[attr-defined, no-untyped-call]
        return np.array([size])
    return np.arange(smallest(size), largest(size) + 1)


def inverse(factor: float | torch.SymFloat, like: Tensor) -> Tensor | float:
    """Return 1 / factor, for arithmetic with a tensor: rounded to its dtype, as torch does."""
    if not isinstance(factor, torch.SymFloat | torch.SymInt):
        return 1 / factor
    one = torch.ones((), dtype=torch.float64, device=like.device)
    found: Tensor = one / torch.mul(one, factor)  # type: ignore[arg-type]
    return found.to(like.dtype)


def number(size: Size, dtype: torch.dtype, device: torch.device) -> Tensor:
    """Return a size as a scalar tensor."""
    one = torch.ones((), dtype=dtype, device=device)
    return one * size  # type: ignore[return-value]
