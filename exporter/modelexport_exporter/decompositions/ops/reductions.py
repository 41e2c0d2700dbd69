"""Reductions without dims, with keepdim, and over integers."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from modelexport_exporter.decompositions.dtypes import HALVES, is_integral
from modelexport_exporter.decompositions.registry import Family

FAMILY = Family("Reductions", __doc__)


@FAMILY.decomposes(
    "aten::aminmax",
    defect="torch.onnx refuses it without a dim, and of a number",
    method="amin and amax",
)
def aminmax(x: Tensor, *, dim: int | None = None, keepdim: bool = False) -> tuple[Tensor, Tensor]:
    if x.dim() == 0:
        return x.clone(), x.clone()
    dims = list(range(x.dim())) if dim is None else [dim]
    return x.amin(dims, keepdim), x.amax(dims, keepdim)


def _keeps_all_or_has_none(
    x: Tensor, order: float = 2, dim: object = None, keepdim: bool = False, **__: object
) -> bool:
    return x.dim() == 0 or (dim is None and keepdim)


@FAMILY.decomposes(
    "aten::linalg_vector_norm",
    defect="keepdim is ignored where no dim is given; a dim of a number without any is refused",
    method="with every dim named, where they are kept; of one element",
    applies=_keeps_all_or_has_none,
)
def linalg_vector_norm(
    x: Tensor,
    ord: float = 2,  # noqa: A002 (torch's name)
    dim: object = None,
    keepdim: bool = False,
    *,
    dtype: torch.dtype | None = None,
) -> Tensor:
    wide, dims = _all_dims(x)
    kept = keepdim and x.dim() > 0
    result: Tensor = torch.linalg.vector_norm(wide, ord, dims, kept, dtype=dtype)
    return result


def _names_no_dim(x: Tensor, dim: Any = (), keepdim: bool = False) -> bool:  # noqa: ANN401
    return not dim and dim != 0


def _all_dims(x: Tensor) -> tuple[Tensor, list[int]]:
    """Return x with at least one dim, and the dims to reduce."""
    if x.dim() == 0:
        return x.unsqueeze(0), [0]
    return x, list(range(x.dim()))


_ALL = "over all dims, where none is named"


@FAMILY.decomposes(
    "aten::amax",
    defect="torch.onnx refuses it without dims",
    method="amax " + _ALL,
    applies=_names_no_dim,
)
def amax(x: Tensor, dim: Any = (), keepdim: bool = False) -> Tensor:  # noqa: ANN401
    wide, dims = _all_dims(x)
    return torch.amax(wide, dims, keepdim and x.dim() > 0)


@FAMILY.decomposes(
    "aten::amin",
    defect="torch.onnx refuses it without dims",
    method="amin " + _ALL,
    applies=_names_no_dim,
)
def amin(x: Tensor, dim: Any = (), keepdim: bool = False) -> Tensor:  # noqa: ANN401
    wide, dims = _all_dims(x)
    return torch.amin(wide, dims, keepdim and x.dim() > 0)


@FAMILY.decomposes(
    "aten::nansum",
    defect="ONNX's IsNaN does not take integers: the file does not load",
    method="sum, for integers",
    applies=is_integral,
)
def nansum(
    x: Tensor,
    dim: Any = None,  # noqa: ANN401
    keepdim: bool = False,
    *,
    dtype: torch.dtype | None = None,
) -> Tensor:
    return torch.sum(x, dim, keepdim, dtype=dtype)


@FAMILY.decomposes(
    "aten::prod.dim_int",
    defect="onnxruntime refuses a dim of a number, which has none",
    method="of one element",
    applies=lambda x, *_, **__: x.dim() == 0,
)
def prod_of_number(
    x: Tensor, dim: int, keepdim: bool = False, *, dtype: torch.dtype | None = None
) -> Tensor:
    return torch.prod(x.reshape(1), 0, dtype=dtype)


FAMILY.composites |= {"aten::linalg_norm"}


_ASSERTED = "which distributions assert of their values"


@FAMILY.decomposes("aten::_is_all_true", defect=_ASSERTED, method="all, of booleans")
def is_all_true(x: Tensor) -> Tensor:
    return torch.all(x)


@FAMILY.decomposes("aten::_is_any_true", defect=_ASSERTED, method="any, of booleans")
def is_any_true(x: Tensor) -> Tensor:
    return torch.any(x)


def _are_halves(x: Tensor, *_: object, dtype: torch.dtype | None = None, **__: object) -> bool:
    return dtype is None and x.dtype in HALVES


@FAMILY.decomposes(
    "aten::sum",
    "aten::sum.dim_IntList",
    defect="the result of half precision is float32",
    method="the sum in float32, as eager's, rounded to the dtype of the terms",
    applies=_are_halves,
)
def sum_of_halves(
    x: Tensor,
    dim: list[int] | None = None,
    keepdim: bool = False,
    *,
    dtype: torch.dtype | None = None,
) -> Tensor:
    return torch.sum(x.float(), dim, keepdim).to(x.dtype)
