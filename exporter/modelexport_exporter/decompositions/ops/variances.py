"""Variances of no more elements than the correction, which are NaN or infinite."""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
from torch import Tensor

from modelexport_exporter.decompositions.registry import Family

FAMILY = Family("Variances of few elements", __doc__)

Dims = Sequence[int] | int | None
_DEFECT = "torch.onnx divides by the count less the correction where that is negative"
_METHOD = "sum of squares over the count less the correction, 0 at least"


def _dims(x: Tensor, dim: Dims) -> list[int]:
    if dim is None or dim in ([], ()):
        return list(range(x.dim()))
    return [dim] if isinstance(dim, int) else list(dim)


def _count(x: Tensor, dim: Dims) -> int:
    return math.prod(x.shape[at] for at in _dims(x, dim))


def _has_few(
    x: Tensor, dim: Dims = None, *, correction: float | None = None, keepdim: bool = False
) -> bool:
    count = _count(x, dim)
    return isinstance(count, int) and count <= (1 if correction is None else correction)


@FAMILY.decomposes("aten::var_mean.correction", defect=_DEFECT, method=_METHOD, applies=_has_few)
def var_mean(
    x: Tensor, dim: Dims = None, *, correction: float | None = None, keepdim: bool = False
) -> tuple[Tensor, Tensor]:
    dims = _dims(x, dim)
    freedom = max(_count(x, dim) - (1 if correction is None else correction), 0)
    mean = x.sum(dims, keepdim=True) / _count(x, dim)
    squares = ((x - mean) ** 2).sum(dims, keepdim=True)
    # Not by a number: ONNX's translation of a division by zero is one by a constant.
    variance = squares / torch.full_like(squares, freedom)
    if keepdim:
        return variance, mean
    return _without(variance, dims), _without(mean, dims)


def _without(x: Tensor, dims: list[int]) -> Tensor:
    return x.squeeze(dims) if dims else x


@FAMILY.decomposes("aten::std_mean.correction", defect=_DEFECT, method=_METHOD, applies=_has_few)
def std_mean(
    x: Tensor, dim: Dims = None, *, correction: float | None = None, keepdim: bool = False
) -> tuple[Tensor, Tensor]:
    variance, mean = var_mean(x, dim, correction=correction, keepdim=keepdim)
    return torch.sqrt(variance), mean


@FAMILY.decomposes("aten::var.correction", defect=_DEFECT, method=_METHOD, applies=_has_few)
def var(
    x: Tensor, dim: Dims = None, *, correction: float | None = None, keepdim: bool = False
) -> Tensor:
    return var_mean(x, dim, correction=correction, keepdim=keepdim)[0]


@FAMILY.decomposes("aten::std.correction", defect=_DEFECT, method=_METHOD, applies=_has_few)
def std(
    x: Tensor, dim: Dims = None, *, correction: float | None = None, keepdim: bool = False
) -> Tensor:
    return torch.sqrt(var_mean(x, dim, correction=correction, keepdim=keepdim)[0])
