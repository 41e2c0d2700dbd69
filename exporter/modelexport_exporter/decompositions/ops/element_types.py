"""Element types that an operator of ONNX or its kernel lacks: booleans and integers."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from modelexport_exporter.decompositions.registry import Why, decomposes


def _is_boolean(x: Tensor, *_: object, **__: object) -> bool:
    return x.dtype == torch.bool


def _is_integral(x: Tensor, *_: object, **__: object) -> bool:
    return not x.dtype.is_floating_point and not x.dtype.is_complex


def _is_byte(x: Tensor, *_: object, **__: object) -> bool:
    return x.dtype == torch.uint8


def _as_int(x: Tensor) -> Tensor:
    return x.to(torch.int32)


@decomposes("aten::isnan", why=Why.WRONG, method="no integer is NaN", applies=_is_integral)
def isnan(x: Tensor) -> Tensor:
    return torch.zeros_like(x, dtype=torch.bool)


@decomposes("aten::isfinite", why=Why.WRONG, method="every integer is", applies=_is_integral)
def isfinite(x: Tensor) -> Tensor:
    return torch.ones_like(x, dtype=torch.bool)


@decomposes("aten::nansum", why=Why.WRONG, method="sum, for integers", applies=_is_integral)
def nansum(
    x: Tensor,
    dim: Any = None,  # noqa: ANN401
    keepdim: bool = False,
    *,
    dtype: torch.dtype | None = None,
) -> Tensor:
    return torch.sum(x, dim, keepdim, dtype=dtype)


_BOOLEAN = "on integers, for booleans"


@decomposes("aten::max.dim", why=Why.WRONG, method="max " + _BOOLEAN, applies=_is_boolean)
def max_of_booleans(x: Tensor, dim: int, keepdim: bool = False) -> tuple[Tensor, Tensor]:
    values, indices = torch.max(_as_int(x), dim, keepdim)
    return values.to(torch.bool), indices


@decomposes("aten::min.dim", why=Why.WRONG, method="min " + _BOOLEAN, applies=_is_boolean)
def min_of_booleans(x: Tensor, dim: int, keepdim: bool = False) -> tuple[Tensor, Tensor]:
    values, indices = torch.min(_as_int(x), dim, keepdim)
    return values.to(torch.bool), indices


@decomposes("aten::sort", why=Why.WRONG, method="sort " + _BOOLEAN, applies=_is_boolean)
def sort_booleans(x: Tensor, dim: int = -1, descending: bool = False) -> tuple[Tensor, Tensor]:
    values, indices = torch.sort(_as_int(x), dim, descending)
    return values.to(torch.bool), indices


@decomposes("aten::argsort", why=Why.WRONG, method="argsort " + _BOOLEAN, applies=_is_boolean)
def argsort_booleans(x: Tensor, dim: int = -1, descending: bool = False) -> Tensor:
    return torch.argsort(_as_int(x), dim, descending)


def _names_no_dim(x: Tensor, dim: Any = (), keepdim: bool = False) -> bool:  # noqa: ANN401
    return not dim and dim != 0


def _all_dims(x: Tensor) -> tuple[Tensor, list[int]]:
    """Return x with at least one dim, and the dims to reduce."""
    if x.dim() == 0:
        return x.unsqueeze(0), [0]
    return x, list(range(x.dim()))


_ALL = "over all dims, where none is named"


@decomposes("aten::amax", why=Why.WRONG, method="amax " + _ALL, applies=_names_no_dim)
def amax(x: Tensor, dim: Any = (), keepdim: bool = False) -> Tensor:  # noqa: ANN401
    wide, dims = _all_dims(x)
    return torch.amax(wide, dims, keepdim and x.dim() > 0)


@decomposes("aten::amin", why=Why.WRONG, method="amin " + _ALL, applies=_names_no_dim)
def amin(x: Tensor, dim: Any = (), keepdim: bool = False) -> Tensor:  # noqa: ANN401
    wide, dims = _all_dims(x)
    return torch.amin(wide, dims, keepdim and x.dim() > 0)


@decomposes(
    "aten::any",
    "aten::any.dim",
    why=Why.WRONG,
    method="a byte of a byte, as eager has it",
    applies=_is_byte,
)
def any_of_bytes(x: Tensor, *arguments: Any) -> Tensor:  # noqa: ANN401
    return torch.any(x != 0, *arguments).to(torch.uint8)


@decomposes(
    "aten::all",
    "aten::all.dim",
    why=Why.WRONG,
    method="a byte of a byte, as eager has it",
    applies=_is_byte,
)
def all_of_bytes(x: Tensor, *arguments: Any) -> Tensor:  # noqa: ANN401
    return torch.all(x != 0, *arguments).to(torch.uint8)
