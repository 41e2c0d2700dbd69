"""Operators in a form that TorchScript's exporter translates correctly.

ONNX computes maxima, minima and Clip of integers from opset 12, compares floats for equality from
11, and reverses by slices from 10; the exporter writes them at older opsets, too. Others it
translates incorrectly at any opset, or by steps that hold for the traced sizes only.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any

import torch
from torch import Tensor

from modelexport_exporter.decompositions.torchscript.pools import POOLS

Bound = Tensor | float | None
Result = Any
"""A tensor, or NotImplemented."""
_ANY = 1000


@dataclass(frozen=True)
class Rewrite:
    """What an operator is replaced by below an opset."""

    function: Callable[..., Result]
    """Returns NotImplemented if the operator itself is translated correctly."""
    before: int = _ANY


def _is_integer(x: object) -> bool:
    if not isinstance(x, Tensor):
        return isinstance(x, int) and not isinstance(x, bool)
    return not x.dtype.is_floating_point and not x.dtype.is_complex and x.dtype != torch.bool


def clamp(x: Tensor, min: Bound = None, max: Bound = None) -> Result:  # noqa: A002
    """Clamp integers between integers; a bound with a fraction makes floats of them."""
    if not all(_is_integer(value) for value in (x, min, max) if value is not None):
        return NotImplemented
    if min is not None:
        x = torch.where(x < min, _like(x, min), x)
    return x if max is None else torch.where(x > max, _like(x, max), x)


def _clamp_min(x: Tensor, min: Bound) -> Result:  # noqa: A002
    return clamp(x, min)


def _clamp_max(x: Tensor, max: Bound) -> Result:  # noqa: A002
    return clamp(x, None, max)


def _like(x: Tensor, bound: Tensor | float) -> Tensor:
    return bound if isinstance(bound, Tensor) else torch.full_like(x, bound)


def maximum(x: Tensor, other: Tensor) -> Result:
    if not (_is_integer(x) and _is_integer(other)):
        return NotImplemented
    return torch.where(x < other, other, x)


def minimum(x: Tensor, other: Tensor) -> Result:
    if not (_is_integer(x) and _is_integer(other)):
        return NotImplemented
    return torch.where(x > other, other, x)


def flip(x: Tensor, *dims: int | Sequence[int]) -> Tensor:
    for dim in _list(dims):
        size = x.shape[dim]
        x = x.index_select(dim, size - 1 - torch.arange(size, device=x.device))
    return x


def eq(x: Tensor, other: Tensor | float) -> Result:
    result = ne(x, other)
    return NotImplemented if result is NotImplemented else ~result


def ne(x: Tensor, other: Tensor | float) -> Result:
    """Compare floats by their order; NaN differs from all."""
    if not (isinstance(x, Tensor) and torch.result_type(x, other).is_floating_point):
        return NotImplemented
    if isinstance(other, float) and math.isnan(other):
        return torch.ones_like(x, dtype=torch.bool)
    differs = (x < other) | (x > other)
    for value in (x, other):
        if isinstance(value, Tensor) and value.dtype.is_floating_point:
            differs = differs | torch.isnan(value)
    return differs


def permute(x: Tensor, *dims: int | Sequence[int]) -> Result:
    """Count dims from the start: the exporter copies them as they are."""
    wanted = _list(dims)
    if all(dim >= 0 for dim in wanted):
        return NotImplemented
    return x.permute([dim % x.dim() for dim in wanted])


def movedim(x: Tensor, source: Any, destination: Any) -> Result:  # noqa: ANN401
    """Count dims from the start: the exporter copies them as they are."""
    both = [_list((dims,)) for dims in (source, destination)]
    if all(dim >= 0 for dims in both for dim in dims):
        return NotImplemented
    return x.movedim(*([dim % x.dim() for dim in dims] for dims in both))


def _list(dims: Sequence[Any]) -> list[int]:
    nested = len(dims) == 1 and isinstance(dims[0], (list, tuple))
    return list(dims[0] if nested else dims)


def floor_divide(x: Tensor, y: Tensor | float) -> Result:
    """Divide integers: the exporter cuts their quotient towards zero."""
    if not (_is_integer(x) and _is_integer(y)):
        return NotImplemented
    return torch.div(x, y, rounding_mode="floor")


def threshold(x: Tensor, threshold: float, value: float) -> Tensor:
    return torch.where(x <= threshold, torch.full_like(x, value), x)


def norm(x: Tensor, p: float | None = 2, *rest: object, **named: object) -> Result:
    if rest or named:
        return NotImplemented
    return torch.linalg.vector_norm(x, 2 if p is None else p)


def total(
    x: Tensor, dim: object = None, keepdim: bool = False, *, dtype: torch.dtype | None = None
) -> Result:
    """Sum over all dims, where their list is empty: the exporter makes floats of it."""
    if keepdim or not isinstance(dim, (list, tuple)) or dim:
        return NotImplemented
    return torch.sum(x, dtype=dtype)


def diagonal(x: Tensor, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Tensor:
    """Read the diagonal from the flattened matrix: its places lie a row and a column apart."""
    x = x.movedim((dim1 % x.dim(), dim2 % x.dim()), (x.dim() - 2, x.dim() - 1))
    rows, columns = x.shape[-2] - max(-offset, 0), x.shape[-1] - max(offset, 0)
    down, across = (torch.arange(size, device=x.device) for size in (rows, columns))
    start = offset if offset >= 0 else -offset * x.shape[-1]
    # The shorter of both: a sum of as many places as there are rows and columns.
    length = torch.zeros_like(down[: across.shape[0]])
    places = torch.arange(length.shape[0], device=x.device) * (x.shape[-1] + 1) + start
    return x.flatten(-2).index_select(-1, places)


def fill_diagonal(x: Tensor, fill_value: float, wrap: bool = False) -> Result:
    if x.dim() != 2 or wrap:
        return NotImplemented
    rows, columns = (torch.arange(size, device=x.device) for size in x.shape)
    return x.masked_fill(rows.unsqueeze(1) == columns, fill_value)


def kron(x: Tensor, y: Tensor) -> Tensor:
    rank = max(x.dim(), y.dim())
    x, y = (value.reshape((1,) * (rank - value.dim()) + tuple(value.shape)) for value in (x, y))
    for dim in range(rank):
        x, y = x.unsqueeze(2 * dim + 1), y.unsqueeze(2 * dim)
    product = x * y
    for dim in range(rank):
        product = product.flatten(dim, dim + 1)
    return product


def multi_dot(tensors: Sequence[Tensor]) -> Tensor:
    return reduce(torch.matmul, tensors)


def bilinear(x: Tensor, y: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    rows = torch.matmul(x.unsqueeze(-2).unsqueeze(-2), weight).squeeze(-2)
    result = (rows * y.unsqueeze(-2)).sum(-1)
    return result if bias is None else result + bias


REWRITES = {
    "aten::clamp": Rewrite(clamp, before=12),
    "aten::clamp_min": Rewrite(_clamp_min, before=12),
    "aten::clamp_max": Rewrite(_clamp_max, before=12),
    "aten::maximum": Rewrite(maximum, before=12),
    "aten::minimum": Rewrite(minimum, before=12),
    "aten::eq": Rewrite(eq, before=11),
    "aten::ne": Rewrite(ne, before=11),
    "aten::flip": Rewrite(flip, before=10),
    "aten::diagonal": Rewrite(diagonal, before=13),
    "aten::permute": Rewrite(permute),
    "aten::movedim": Rewrite(movedim),
    "aten::__iand__": Rewrite(operator.and_),
    "aten::__ior__": Rewrite(operator.or_),
    "aten::__ixor__": Rewrite(operator.xor),
    "aten::fill_diagonal": Rewrite(fill_diagonal),
    "aten::floor_divide": Rewrite(floor_divide),
    "aten::threshold": Rewrite(threshold),
    "aten::norm": Rewrite(norm),
    "aten::sum": Rewrite(total),
    "aten::kron": Rewrite(kron),
    "aten::linalg_multi_dot": Rewrite(multi_dot),
    "aten::bilinear": Rewrite(bilinear),
    **{name: Rewrite(pool) for name, pool in POOLS.items()},
}
