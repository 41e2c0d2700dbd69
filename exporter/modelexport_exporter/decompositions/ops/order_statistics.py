"""Medians, k-th values and modes, from a sort of the whole dim; ranks of a single number."""

from __future__ import annotations

import torch
from torch import Tensor

from modelexport_exporter.decompositions.ops.arithmetic import undefined
from modelexport_exporter.decompositions.registry import Family

FAMILY = Family("Order statistics", __doc__)

_SORT = "sort along the dim, NaN last, then select"
_TIES = "exact; the index among equal values may be another one"


def _sort(x: Tensor, dim: int) -> tuple[Tensor, Tensor, Tensor]:
    """Return sorted values, their indices, and how many are not NaN."""
    if not x.dtype.is_floating_point:
        values, indices = torch.sort(x, dim)
        return values, indices, torch.ones_like(x, dtype=torch.int64).sum(dim, keepdim=True)
    missing = torch.isnan(x)
    values, indices = torch.sort(torch.where(missing, float("inf"), x), dim)
    return values, indices, (~missing).to(torch.int64).sum(dim, keepdim=True)


def _squeeze(
    values: Tensor,
    indices: Tensor,
    dim: int,
    keepdim: bool,
) -> tuple[Tensor, Tensor]:
    if keepdim:
        return values, indices
    return values.squeeze(dim), indices.squeeze(dim)


def _first(holds: Tensor, dim: int) -> Tensor:
    """Return the index of the first element that is true."""
    return holds.to(torch.int64).argmax(dim, keepdim=True)


@FAMILY.decomposes("aten::median.dim", method=_SORT, accuracy=_TIES)
def median_dim(x: Tensor, dim: int, keepdim: bool = False) -> tuple[Tensor, Tensor]:
    if x.dim() == 0:
        return x.clone(), torch.zeros_like(x, dtype=torch.int64)
    values, indices, valid = _sort(x, dim)
    middle = (torch.ones_like(valid) * x.shape[dim] - 1) // 2
    value, index = values.gather(dim, middle), indices.gather(dim, middle)
    if x.dtype.is_floating_point:
        complete = valid == x.shape[dim]
        value = torch.where(complete, value, undefined(value))
        index = torch.where(complete, index, _first(torch.isnan(x), dim))
    return _squeeze(value, index, dim, keepdim)


@FAMILY.decomposes("aten::median", method=_SORT)
def median(x: Tensor) -> Tensor:
    return median_dim(x.reshape(-1), 0)[0]


@FAMILY.decomposes("aten::nanmedian.dim", method=_SORT, accuracy=_TIES)
def nanmedian_dim(x: Tensor, dim: int, keepdim: bool = False) -> tuple[Tensor, Tensor]:
    if x.dim() == 0:
        return x.clone(), torch.zeros_like(x, dtype=torch.int64)
    values, indices, valid = _sort(x, dim)
    middle = torch.clamp((valid - 1) // 2, min=0)
    value, index = values.gather(dim, middle), indices.gather(dim, middle)
    if x.dtype.is_floating_point:
        value = torch.where(valid > 0, value, undefined(value))
        # NaN is sorted as an infinity, so that the index of an infinity may be that of a NaN.
        infinite = value == float("inf")
        index = torch.where(infinite, _first(x == float("inf"), dim), index)
        index = torch.where(valid > 0, index, torch.zeros_like(index))
    return _squeeze(value, index, dim, keepdim)


@FAMILY.decomposes("aten::nanmedian", method=_SORT)
def nanmedian(x: Tensor) -> Tensor:
    return nanmedian_dim(x.reshape(-1), 0)[0]


@FAMILY.decomposes("aten::kthvalue", method=_SORT, accuracy=_TIES)
def kthvalue(
    x: Tensor,
    k: int,
    dim: int = -1,
    keepdim: bool = False,
) -> tuple[Tensor, Tensor]:
    if x.dim() == 0:
        return x.clone(), torch.zeros_like(x, dtype=torch.int64)
    values, indices, valid = _sort(x, dim)
    value, index = values.narrow(dim, k - 1, 1), indices.narrow(dim, k - 1, 1)
    if x.dtype.is_floating_point:
        infinite = value == float("inf")
        index = torch.where(infinite & (valid >= k), _first(x == float("inf"), dim), index)
        value = torch.where(valid >= k, value, undefined(value))
    return _squeeze(value, index, dim, keepdim)


@FAMILY.decomposes(
    "aten::mode",
    method="count of equal values for each element: memory grows as the length squared",
)
def mode(x: Tensor, dim: int = -1, keepdim: bool = False) -> tuple[Tensor, Tensor]:
    if x.dim() == 0:
        return x.clone(), torch.zeros_like(x, dtype=torch.int64)
    last = x.movedim(dim, -1)
    counts = (last.unsqueeze(-1) == last.unsqueeze(-2)).to(torch.int64).sum(-1)
    most = counts == counts.amax(-1, keepdim=True)
    high = float("inf") if x.dtype.is_floating_point else torch.iinfo(x.dtype).max
    value = torch.where(most, last, torch.full_like(last, high)).amin(-1, keepdim=True)
    positions = torch.arange(last.shape[-1], device=x.device)
    index = torch.where(last == value, positions, -1).amax(-1, keepdim=True)
    return _squeeze(value.movedim(-1, dim), index.movedim(-1, dim), dim, keepdim)


@FAMILY.decomposes(
    "aten::sort.stable", method="aten::sort: onnxruntime's TopK keeps the order of equal values"
)
def sort_stable(
    x: Tensor, *, stable: bool | None, dim: int = -1, descending: bool = False
) -> tuple[Tensor, Tensor]:
    return torch.sort(x, dim, descending)


def _has_no_dim(x: Tensor, *_: object, **__: object) -> bool:
    return x.dim() == 0


@FAMILY.decomposes(
    "aten::topk",
    defect="ONNX's TopK has no dim of a single number",
    method="the number itself",
    applies=_has_no_dim,
)
def topk(
    x: Tensor,
    k: int,
    dim: int = -1,
    largest: bool = True,
    sorted: bool = True,  # noqa: A002 (torch's name)
) -> tuple[Tensor, Tensor]:
    return x.clone(), torch.zeros_like(x, dtype=torch.int64)


FAMILY.composites |= {"aten::argsort", "aten::argsort.stable"}
