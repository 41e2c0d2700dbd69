"""Unique elements of dtypes for which onnxruntime has no Unique; int64 holds all their values."""

from __future__ import annotations

import torch
from torch import Tensor

from modelexport_exporter.decompositions.registry import Family

FAMILY = Family("Unique elements", __doc__)

_LACKING = frozenset({torch.uint8, torch.int16, torch.uint16, torch.int32, torch.bool})


def _is_lacking(x: Tensor, *_: object, **__: object) -> bool:
    return x.dtype in _LACKING


@FAMILY.decomposes(
    "aten::_unique2",
    defect="onnxruntime has no Unique of booleans and of integers of 16 and 32 bits, or of uint8",
    method="of int64",
    applies=_is_lacking,
)
def unique2(
    x: Tensor,
    sorted: bool = True,  # noqa: A002
    return_inverse: bool = False,
    return_counts: bool = False,
) -> tuple[Tensor, Tensor, Tensor]:
    wide = x.to(torch.int64)
    found, *others = torch.ops.aten._unique2(wide, sorted, return_inverse, return_counts)  # noqa: SLF001
    return found.to(x.dtype), others[0], others[1]


@FAMILY.decomposes(
    "aten::unique_dim",
    defect="onnxruntime has no Unique of booleans and of integers of 16 and 32 bits, or of uint8",
    method="of int64",
    applies=_is_lacking,
)
def unique_dim(
    x: Tensor,
    dim: int,
    sorted: bool = True,  # noqa: A002
    return_inverse: bool = False,
    return_counts: bool = False,
) -> tuple[Tensor, Tensor, Tensor]:
    wide = x.to(torch.int64)
    found, *others = torch.ops.aten.unique_dim(wide, dim, sorted, return_inverse, return_counts)
    return found.to(x.dtype), others[0], others[1]
