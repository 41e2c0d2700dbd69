"""Integers and booleans, where an operator of ONNX or its kernel takes floats only."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from modelexport_exporter.decompositions.dtypes import is_integral
from modelexport_exporter.decompositions.registry import Family

FAMILY = Family("Integers and booleans", __doc__)


def _is_boolean(x: Tensor, *_: object, **__: object) -> bool:
    return x.dtype == torch.bool


def _is_byte(x: Tensor, *_: object, **__: object) -> bool:
    return x.dtype == torch.uint8


def _as_int(x: Tensor) -> Tensor:
    return x.to(torch.int32)


def _are_of_equal_width(x: Tensor, dtype: object, *_: object) -> bool:
    if not isinstance(dtype, torch.dtype):  # a view by another shape
        return False
    numbers = dtype.is_floating_point or dtype.is_complex or dtype is torch.bool
    return is_integral(x) and not numbers and x.element_size() == dtype.itemsize


@FAMILY.decomposes(
    "aten::view.dtype",
    defect="torch.onnx has no translation",
    method="a cast, which wraps: bytes with and without sign have the same bits",
    accuracy="exact",
    applies=_are_of_equal_width,
)
def view_dtype(x: Tensor, dtype: torch.dtype) -> Tensor:
    return x.to(dtype)


@FAMILY.decomposes(
    "aten::isnan",
    defect="ONNX's IsNaN does not take integers: the file does not load",
    method="no integer is NaN",
    applies=is_integral,
)
def isnan(x: Tensor) -> Tensor:
    return torch.zeros_like(x, dtype=torch.bool)


@FAMILY.decomposes(
    "aten::isfinite",
    defect="ONNX's IsInf does not take integers: the file does not load",
    method="every integer is",
    applies=is_integral,
)
def isfinite(x: Tensor) -> Tensor:
    return torch.ones_like(x, dtype=torch.bool)


@FAMILY.decomposes(
    "aten::pixel_shuffle",
    defect="onnxruntime has no DepthToSpace of integers and booleans",
    method="reshape into blocks, permute and reshape",
    accuracy="exact",
    applies=is_integral,
)
def pixel_shuffle(x: Tensor, upscale_factor: int) -> Tensor:
    *batch, _, height, width = x.shape
    blocks = x.reshape(*batch, -1, upscale_factor, upscale_factor, height, width)
    interleaved = blocks.movedim(-3, -1).movedim(-4, -3)  # [..., height, factor, width, factor]
    return interleaved.reshape(*batch, -1, height * upscale_factor, width * upscale_factor)


_BOOLEAN = "on integers, for booleans"


@FAMILY.decomposes(
    "aten::max.dim",
    defect="ONNX's ReduceMax does not take booleans at this opset: the file does not load",
    method="max " + _BOOLEAN,
    applies=_is_boolean,
)
def max_of_booleans(x: Tensor, dim: int, keepdim: bool = False) -> tuple[Tensor, Tensor]:
    values, indices = torch.max(_as_int(x), dim, keepdim)
    return values.to(torch.bool), indices


@FAMILY.decomposes(
    "aten::min.dim",
    defect="ONNX's ReduceMin does not take booleans at this opset: the file does not load",
    method="min " + _BOOLEAN,
    applies=_is_boolean,
)
def min_of_booleans(x: Tensor, dim: int, keepdim: bool = False) -> tuple[Tensor, Tensor]:
    values, indices = torch.min(_as_int(x), dim, keepdim)
    return values.to(torch.bool), indices


@FAMILY.decomposes(
    "aten::sort",
    defect="ONNX's TopK does not take booleans: the file does not load",
    method="sort " + _BOOLEAN,
    applies=_is_boolean,
)
def sort_booleans(x: Tensor, dim: int = -1, descending: bool = False) -> tuple[Tensor, Tensor]:
    values, indices = torch.sort(_as_int(x), dim, descending)
    return values.to(torch.bool), indices


@FAMILY.decomposes(
    "aten::argsort",
    defect="ONNX's TopK does not take booleans: the file does not load",
    method="argsort " + _BOOLEAN,
    applies=_is_boolean,
)
def argsort_booleans(x: Tensor, dim: int = -1, descending: bool = False) -> Tensor:
    return torch.argsort(_as_int(x), dim, descending)


@FAMILY.decomposes(
    "aten::any",
    "aten::any.dim",
    defect="the result is boolean: eager returns bytes for bytes",
    method="a byte of a byte, as eager has it",
    applies=_is_byte,
)
def any_of_bytes(x: Tensor, *arguments: Any) -> Tensor:  # noqa: ANN401
    return torch.any(x != 0, *arguments).to(torch.uint8)


@FAMILY.decomposes(
    "aten::all",
    "aten::all.dim",
    defect="the result is boolean: eager returns bytes for bytes",
    method="a byte of a byte, as eager has it",
    applies=_is_byte,
)
def all_of_bytes(x: Tensor, *arguments: Any) -> Tensor:  # noqa: ANN401
    return torch.all(x != 0, *arguments).to(torch.uint8)


def _booleans(x: object, y: object, *_: object, **__: object) -> bool:
    return all(
        isinstance(value, bool) or (isinstance(value, Tensor) and value.dtype == torch.bool)
        for value in (x, y)
    )


@FAMILY.decomposes(
    "aten::add.Tensor",
    "aten::add.Scalar",
    defect="ONNX's Add does not take booleans: the file does not load",
    method="or, for booleans",
    applies=_booleans,
)
def add_booleans(x: Tensor, y: Tensor | bool, alpha: float = 1) -> Tensor:
    if not isinstance(y, Tensor):
        y = torch.full((), y, device=x.device)
    return torch.logical_or(x, y) if alpha else x.clone()


@FAMILY.decomposes(
    "aten::where.self",
    defect="onnxruntime has no Where of booleans",
    report="https://github.com/microsoft/onnxruntime/issues/24127",
    method="and and or, for booleans: onnxruntime's CPU provider has no Where for them",
    applies=lambda _, x, y: _booleans(x, y),
)
def where_booleans(condition: Tensor, x: Tensor, y: Tensor) -> Tensor:
    return (condition & x) | (~condition & y)


@FAMILY.decomposes(
    "aten::masked_fill.Scalar",
    "aten::masked_fill.Tensor",
    defect="onnxruntime has no Where of booleans",
    report="https://github.com/microsoft/onnxruntime/issues/24127",
    method="and and or, for booleans",
    applies=lambda x, mask, _: _booleans(x, mask),
)
def masked_fill_booleans(x: Tensor, mask: Tensor, value: Tensor | float) -> Tensor:
    if isinstance(value, Tensor):
        return where_booleans(mask, value.to(torch.bool), x)
    return (x | mask) if value else (x & ~mask)


@FAMILY.decomposes(
    "aten::floor",
    "aten::ceil",
    "aten::trunc",
    "aten::round",
    defect="ONNX's operator does not take integers: the file does not load",
    method="nothing to do for integers",
    applies=is_integral,
)
def rounded_integer(x: Tensor, **_: object) -> Tensor:
    return x.clone()


@FAMILY.decomposes(
    "aten::relu",
    defect="onnxruntime has no Relu of int64 (TorchScript route)",
    method="clamp(min=0), for integers",
    applies=is_integral,
)
def relu_of_integers(x: Tensor) -> Tensor:
    return torch.clamp(x, min=0)


def _float_minus_integer(x: Tensor, other: object, *_: object, **__: object) -> bool:
    return isinstance(other, float) and is_integral(x)


@FAMILY.decomposes(
    "aten::rsub.Scalar",
    defect="`1.0 - mask` of integers is not translated: the definition that torch applies fails",
    method="of the integers as the floats that eager makes of them",
    applies=_float_minus_integer,
)
def float_minus_integer(x: Tensor, other: float, alpha: float = 1) -> Tensor:
    return torch.rsub(x.to(torch.result_type(x, other)), other, alpha=alpha)
