"""Reductions with a missing or a misread argument, and sums over booleans."""

from __future__ import annotations

import torch
from torch import Tensor

from modelexport_exporter.decompositions.registry import Why, composites, decomposes


@decomposes("aten::aminmax", why=Why.WRONG, method="amin and amax")
def aminmax(x: Tensor, *, dim: int | None = None, keepdim: bool = False) -> tuple[Tensor, Tensor]:
    dims = list(range(x.dim())) if dim is None else [dim]
    return x.amin(dims, keepdim), x.amax(dims, keepdim)


@decomposes(
    "aten::scatter_reduce.two",
    why=Why.WRONG,
    method="sum over count, for the mean",
    applies=lambda *arguments, **_: arguments[4] == "mean",
)
def scatter_mean(
    x: Tensor, dim: int, index: Tensor, src: Tensor, reduce: str, *, include_self: bool = True
) -> Tensor:
    assert reduce == "mean"
    ones = torch.ones_like(x)
    count = torch.zeros_like(x).scatter_add(dim, index, torch.ones_like(index, dtype=x.dtype))
    start = x if include_self else torch.where(count > 0, torch.zeros_like(x), x)
    total = start.scatter_add(dim, index, src)
    if include_self:
        count = count + ones
    count = torch.where(count > 0, count, ones)
    if x.dtype.is_floating_point:
        return total / count
    return torch.div(total, count, rounding_mode="floor")


def _keeps_all(
    _: Tensor, order: float = 2, dim: object = None, keepdim: bool = False, **__: object
) -> bool:
    return dim is None and keepdim


@decomposes(
    "aten::linalg_vector_norm",
    why=Why.WRONG,
    method="with every dim named, where they are kept",
    applies=_keeps_all,
)
def linalg_vector_norm(
    x: Tensor,
    ord: float = 2,  # noqa: A002 (torch's name)
    dim: object = None,
    keepdim: bool = False,
    *,
    dtype: torch.dtype | None = None,
) -> Tensor:
    dims = list(range(x.dim()))
    result: Tensor = torch.linalg.vector_norm(x, ord, dims, keepdim, dtype=dtype)
    return result


def _booleans(x: object, y: object, *_: object, **__: object) -> bool:
    return all(
        isinstance(value, bool) or (isinstance(value, Tensor) and value.dtype == torch.bool)
        for value in (x, y)
    )


@decomposes(
    "aten::add.Tensor",
    "aten::add.Scalar",
    why=Why.WRONG,
    method="or, for booleans",
    applies=_booleans,
)
def add_booleans(x: Tensor, y: Tensor | bool, alpha: float = 1) -> Tensor:
    if not isinstance(y, Tensor):
        y = torch.full((), y, device=x.device)
    return torch.logical_or(x, y) if alpha else x.clone()


@decomposes(
    "aten::where.self",
    why=Why.WRONG,
    method="and and or, for booleans: onnxruntime's CPU provider has no Where for them",
    applies=lambda _, x, y: _booleans(x, y),
)
def where_booleans(condition: Tensor, x: Tensor, y: Tensor) -> Tensor:
    return (condition & x) | (~condition & y)


@decomposes(
    "aten::masked_fill.Scalar",
    why=Why.WRONG,
    method="and and or, for booleans",
    applies=lambda x, mask, _: _booleans(x, mask),
)
def masked_fill_booleans(x: Tensor, mask: Tensor, value: float) -> Tensor:
    return (x | mask) if value else (x & ~mask)


composites("aten::linalg_norm")
