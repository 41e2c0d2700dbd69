"""Shifts, and operators on bits, of integers of 8 and 16 bits and of sizes.

torch.onnx translates a shift of bytes to one whose result is signed, which no other operator takes
together with bytes; onnxruntime shifts no integers of 16 bits; and torch.onnx needs a number where
an operand is a size.
"""

from __future__ import annotations

import torch
from torch import Tensor

from modelexport_exporter.decompositions.ops.arithmetic import broadcast
from modelexport_exporter.decompositions.registry import Family

FAMILY = Family("Shifts and bits", __doc__)

_DEFECT = (
    "shifts of uint8 return int8, and of int8 and int16 have no kernel: the file does not load"
)
_AS_INTEGERS = "shift of int32, of which the lowest bits are kept"
_NARROW = (torch.uint8, torch.int8, torch.int16)
_ALL_BITS = 31
"""As many places as int32 has: no bit of a narrower integer is left, but its sign."""


def _is_narrow(x: Tensor | int, y: Tensor | int) -> bool:
    return torch.result_type(x, y) in _NARROW


def _is_size(_x: object, y: object) -> bool:
    return isinstance(y, torch.SymInt)


def _as_tensor(x: Tensor, y: int) -> Tensor:
    return torch.full((), y, dtype=torch.result_type(x, y), device=x.device)


def _both(x: Tensor | int, y: Tensor | int) -> tuple[Tensor, Tensor]:
    """Return both as int32; a shift by less than no places is one by all of them, as in torch."""
    like = x if isinstance(x, Tensor) else y
    assert isinstance(like, Tensor)
    wide = [
        value.to(torch.int32)
        if isinstance(value, Tensor)
        else torch.full((), value, dtype=torch.int32, device=like.device)
        for value in (x, y)
    ]
    one, places = broadcast(*wide)
    return one, torch.where((places < 0) | (places > _ALL_BITS), _ALL_BITS, places)


@FAMILY.decomposes(
    "aten::bitwise_left_shift.Tensor",
    "aten::bitwise_left_shift.Tensor_Scalar",
    "aten::bitwise_left_shift.Scalar_Tensor",
    "aten::__lshift__.Scalar",
    defect=_DEFECT,
    method=_AS_INTEGERS,
    applies=_is_narrow,
)
def left_shift_of_narrow(x: Tensor | int, y: Tensor | int) -> Tensor:
    one, places = _both(x, y)
    return _wrapped(torch.bitwise_left_shift(one, places), torch.result_type(x, y))


@FAMILY.decomposes(
    "aten::bitwise_right_shift.Tensor",
    "aten::bitwise_right_shift.Tensor_Scalar",
    "aten::bitwise_right_shift.Scalar_Tensor",
    "aten::__rshift__.Scalar",
    defect=_DEFECT,
    method=_AS_INTEGERS,
    applies=_is_narrow,
)
def right_shift_of_narrow(x: Tensor | int, y: Tensor | int) -> Tensor:
    one, places = _both(x, y)
    return torch.bitwise_right_shift(one, places).to(torch.result_type(x, y))


def _wrapped(x: Tensor, dtype: torch.dtype) -> Tensor:
    """Return the lowest bits of int32 as the narrower dtype."""
    return (torch.bitwise_and(x, 255) if dtype is torch.uint8 else x).to(dtype)


@FAMILY.decomposes("aten::__lshift__.Tensor", method="bitwise_left_shift")
def left_shift(x: Tensor, other: Tensor) -> Tensor:
    return torch.bitwise_left_shift(x, other)


@FAMILY.decomposes("aten::__rshift__.Tensor", method="bitwise_right_shift")
def right_shift(x: Tensor, other: Tensor) -> Tensor:
    return torch.bitwise_right_shift(x, other)


_OF_A_SIZE = "the same of a tensor"


@FAMILY.decomposes(
    "aten::bitwise_and.Scalar", "aten::__and__.Scalar", method=_OF_A_SIZE, applies=_is_size
)
def and_with_size(x: Tensor, y: int) -> Tensor:
    return torch.bitwise_and(x, _as_tensor(x, y))


@FAMILY.decomposes(
    "aten::bitwise_or.Scalar", "aten::__or__.Scalar", method=_OF_A_SIZE, applies=_is_size
)
def or_with_size(x: Tensor, y: int) -> Tensor:
    return torch.bitwise_or(x, _as_tensor(x, y))


@FAMILY.decomposes(
    "aten::bitwise_xor.Scalar", "aten::__xor__.Scalar", method=_OF_A_SIZE, applies=_is_size
)
def xor_with_size(x: Tensor, y: int) -> Tensor:
    return torch.bitwise_xor(x, _as_tensor(x, y))
