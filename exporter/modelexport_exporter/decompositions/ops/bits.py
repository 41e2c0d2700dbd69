"""Shifts, and operators on bits, of bytes and of sizes.

torch.onnx translates a shift of bytes to one whose result is signed, which no other operator takes
together with bytes, and needs a number where an operand is a size.
"""

from __future__ import annotations

import torch
from torch import Tensor

from modelexport_exporter.decompositions.ops.arithmetic import broadcast
from modelexport_exporter.decompositions.registry import Family

FAMILY = Family("Shifts and bits", __doc__)

_SIGNED = "the result of a shift of uint8 is int8: the file does not load"
_AS_INTEGERS = "shift of int32, whose lowest byte is kept"


def _is_of_bytes(x: object, y: object) -> bool:
    return any(isinstance(value, Tensor) and value.dtype is torch.uint8 for value in (x, y))


def _is_size(_x: object, y: object) -> bool:
    return isinstance(y, torch.SymInt)


def _as_tensor(x: Tensor, y: int) -> Tensor:
    return torch.full((), y, dtype=torch.result_type(x, y), device=x.device)


def _both(x: Tensor | int, y: Tensor | int) -> tuple[Tensor, Tensor]:
    """Return both as int32."""
    like = x if isinstance(x, Tensor) else y
    assert isinstance(like, Tensor)
    wide = [
        value.to(torch.int32)
        if isinstance(value, Tensor)
        else torch.full((), value, dtype=torch.int32, device=like.device)
        for value in (x, y)
    ]
    one, other = broadcast(*wide)
    return one, other


@FAMILY.decomposes(
    "aten::bitwise_left_shift.Tensor",
    "aten::bitwise_left_shift.Tensor_Scalar",
    "aten::bitwise_left_shift.Scalar_Tensor",
    "aten::__lshift__.Scalar",
    defect=_SIGNED,
    method=_AS_INTEGERS,
    applies=_is_of_bytes,
)
def left_shift_of_bytes(x: Tensor | int, y: Tensor | int) -> Tensor:
    x, y = _both(x, y)
    return torch.bitwise_and(torch.bitwise_left_shift(x, y), 255).to(torch.uint8)


@FAMILY.decomposes(
    "aten::bitwise_right_shift.Tensor",
    "aten::bitwise_right_shift.Tensor_Scalar",
    "aten::bitwise_right_shift.Scalar_Tensor",
    "aten::__rshift__.Scalar",
    defect=_SIGNED,
    method=_AS_INTEGERS,
    applies=_is_of_bytes,
)
def right_shift_of_bytes(x: Tensor | int, y: Tensor | int) -> Tensor:
    x, y = _both(x, y)
    return torch.bitwise_right_shift(x, y).to(torch.uint8)


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
