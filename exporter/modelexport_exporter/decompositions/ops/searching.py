"""Positions in sorted sequences and counts of values, by comparing all with all."""

from __future__ import annotations

import torch
from torch import Tensor

from modelexport_exporter.decompositions.registry import Family

FAMILY = Family("Searching and counting", __doc__)

_COMPARE = "count of smaller boundaries: memory grows as values times boundaries"


@FAMILY.decomposes("aten::searchsorted.Tensor", method=_COMPARE)
def searchsorted(
    sequence: Tensor,
    x: Tensor,
    *,
    out_int32: bool = False,
    right: bool = False,
    side: str | None = None,
    sorter: Tensor | None = None,
) -> Tensor:
    if sorter is not None:
        sequence = sequence.gather(-1, sorter)
    boundaries = sequence if sequence.dim() == 1 else sequence.unsqueeze(-2)
    values = x.unsqueeze(-1)
    # Negated, so that NaN comes after every boundary, as eager has it.
    beyond = boundaries > values if right or side == "right" else boundaries >= values
    dtype = torch.int32 if out_int32 else torch.int64
    return (~beyond).to(dtype).sum(-1, dtype=dtype)


@FAMILY.decomposes("aten::searchsorted.Scalar", method=_COMPARE)
def searchsorted_scalar(
    sequence: Tensor,
    x: float,
    *,
    out_int32: bool = False,
    right: bool = False,
    side: str | None = None,
    sorter: Tensor | None = None,
) -> Tensor:
    value = torch.full((), x, dtype=sequence.dtype, device=sequence.device)
    return searchsorted(sequence, value, out_int32=out_int32, right=right, side=side, sorter=sorter)


_LARGE = "torch's own definition searches sorted values if there are many, or of a dynamic number"


@FAMILY.decomposes(
    "aten::isin.Tensor_Tensor",
    defect=_LARGE,
    method="comparison of all with all: memory grows as the product of the sizes",
)
def isin(
    elements: Tensor, test_elements: Tensor, *, assume_unique: bool = False, invert: bool = False
) -> Tensor:
    found = (elements.unsqueeze(-1) == test_elements.reshape(-1)).any(-1)
    return ~found if invert else found


@FAMILY.decomposes("aten::isin.Scalar_Tensor", defect=_LARGE, method="comparison with all")
def isin_of_number(
    element: float, test_elements: Tensor, *, assume_unique: bool = False, invert: bool = False
) -> Tensor:
    found = (test_elements == element).any()
    return ~found if invert else found


@FAMILY.decomposes(
    "aten::bincount",
    defect="torch.onnx refuses weights, and a least length that depends on data",
    method="sum of one-hot rows where weights are given; zeros up to the least length",
    accuracy="float32 weights are added in float64, as eager adds them",
    applies=lambda _, weights=None, minlength=0: (
        weights is not None or isinstance(minlength, torch.SymInt)
    ),
)
def bincount(x: Tensor, weights: Tensor | None = None, minlength: int = 0) -> Tensor:
    bins = _counts(x, minlength)
    if weights is None:
        return bins
    wide = weights if weights.dtype == torch.float32 else weights.to(torch.float64)
    return torch.zeros_like(bins, dtype=wide.dtype).scatter_add(0, x.to(torch.int64), wide)


def _counts(x: Tensor, least: int | torch.SymInt) -> Tensor:
    if not isinstance(least, torch.SymInt):
        return torch.bincount(x, minlength=least)
    counts = torch.bincount(x)
    missing = torch.sym_max(least - counts.shape[0], 0)
    return torch.cat([counts, counts.new_zeros(missing)])
