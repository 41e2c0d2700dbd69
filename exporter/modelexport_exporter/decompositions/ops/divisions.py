"""Quotients rounded down and their remainders, and divisors of integers.

torch computes the exact remainder first; a rounded quotient may be off by one near an integer:
`1.0 // 0.1` is 9, not 10, and `1.0 % 0.1` is 0.1, not 0.
"""

from __future__ import annotations

import torch
from torch import Tensor

from modelexport_exporter.decompositions.ops.arithmetic import broadcast
from modelexport_exporter.decompositions.registry import Family

FAMILY = Family("Division and remainder", __doc__)

_REMAINDER = "fmod, moved to the divisor's sign"


def _is_float(x: object, y: object) -> bool:
    return any(
        isinstance(value, float) or (isinstance(value, Tensor) and value.dtype.is_floating_point)
        for value in (x, y)
    )


def _needs_remainder(x: object, y: object) -> bool:
    return _is_float(x, y) or isinstance(y, torch.SymInt)


def _operands(x: Tensor, y: Tensor | float) -> tuple[Tensor, Tensor]:
    dtype = torch.result_type(x, y)
    other = y.to(dtype) if isinstance(y, Tensor) else torch.full((), y, dtype=dtype)
    x, other = broadcast(x.to(dtype), other.to(x.device))
    return x, other


@FAMILY.decomposes(
    "aten::remainder.Tensor",
    "aten::remainder.Scalar",
    defect="the quotient is rounded before floor: 1.0 % 0.1 is 0; a size as the divisor fails",
    method=_REMAINDER,
    applies=_needs_remainder,
)
def remainder(x: Tensor, y: Tensor | float) -> Tensor:
    x, y = _operands(x, y)
    if not x.dtype.is_floating_point:
        return torch.remainder(x, y)
    rest = torch.fmod(x, y)
    return torch.where((rest != 0) & ((y < 0) != (rest < 0)), rest + y, rest)


@FAMILY.decomposes(
    "aten::remainder.Scalar_Tensor",
    defect="the quotient is rounded before floor: 1.0 % 0.1 is 0; a size that is divided fails",
    method=_REMAINDER,
    applies=lambda x, y: _is_float(x, y) or isinstance(x, torch.SymInt),
)
def remainder_of(x: float, y: Tensor) -> Tensor:
    dtype = torch.result_type(x, y)
    return remainder(torch.full((), x, dtype=dtype, device=y.device), y.to(dtype))


@FAMILY.decomposes(
    "aten::floor_divide",
    "aten::floor_divide.Scalar",
    defect="the quotient is rounded before floor: 1.0 // 0.1 is 10",
    report="https://github.com/microsoft/onnxscript/issues/989",
    method="(x - remainder) / y, rounded to the nearest integer",
    applies=_is_float,
)
def floor_divide(x: Tensor, y: Tensor | float) -> Tensor:
    x, y = _operands(x, y)
    rest = torch.fmod(x, y)
    quotient = (x - rest) / y
    quotient = torch.where((rest != 0) & ((y < 0) != (rest < 0)), quotient - 1, quotient)
    down = torch.floor(quotient)
    result = torch.where(quotient - down > 0.5, down + 1, down)
    return torch.where(y == 0, x / y, result)


@FAMILY.decomposes(
    "aten::div.Tensor_mode",
    "aten::div.Scalar_mode",
    defect="the quotient is rounded before floor: 1.0 // 0.1 is 10; integers go through float32; "
    "the TorchScript exporter makes an integer of a quotient rounded towards zero, NaN included",
    report="https://github.com/microsoft/onnxscript/issues/989",
    method="floor_divide, where the quotient is rounded down, and for integers; trunc of the rest",
    applies=lambda x, y, *, rounding_mode: (
        rounding_mode is not None
        and (_is_float(x, y) or _divides_integers(x, y, rounding_mode=rounding_mode))
    ),
)
def div_rounded(x: Tensor, y: Tensor | float, *, rounding_mode: str | None) -> Tensor:
    if _is_float(x, y) and rounding_mode == "trunc":
        x, y = _operands(x, y)
        return torch.trunc(x / y)
    if _is_float(x, y):
        return floor_divide(x, y)
    return divide_integers(x, y, rounding_mode=rounding_mode)  # type: ignore[arg-type]


def _is_integral(x: object, y: object, *_: object, **__: object) -> bool:
    return isinstance(x, Tensor) and not _is_float(x, y) and x.dtype is not torch.bool


def _divides_integers(x: object, y: object, *, rounding_mode: str | None) -> bool:
    return rounding_mode is not None and _is_integral(x, y)


def _is_opposite(x: Tensor, y: Tensor, rest: Tensor) -> Tensor:
    """Return where the quotient is negative and no integer."""
    return (rest != 0) & ((x < 0) != (y < 0))


def divide_integers(x: Tensor, y: Tensor | int, *, rounding_mode: str | None) -> Tensor:
    x, y = _operands(x, y)
    rest = torch.remainder(x, y)
    opposite = _is_opposite(x, y, rest)
    # Without a rest, quotients rounded down and towards zero are the same. Towards zero: x minus
    # the other rest may be less than the smallest number of its dtype.
    quotient = torch.floor_divide(x - torch.where(opposite, rest - y, rest), y)
    return torch.where(opposite, quotient - 1, quotient) if rounding_mode == "floor" else quotient


@FAMILY.decomposes(
    "aten::fmod.Tensor",
    "aten::fmod.Scalar",
    defect="onnxruntime computes fmod of int64 in double: wrong from 2⁵³ on",
    method="remainder, moved to the dividend's sign",
    applies=_is_integral,
)
def fmod_of_integers(x: Tensor, y: Tensor | int) -> Tensor:
    x, y = _operands(x, y)
    rest = torch.remainder(x, y)
    return torch.where(_is_opposite(x, y, rest), rest - y, rest)


@FAMILY.decomposes(
    "aten::gcd", method="Euclid's algorithm, unrolled for the widest numbers of the dtype"
)
def gcd(x: Tensor, y: Tensor) -> Tensor:
    dtype = torch.promote_types(x.dtype, y.dtype)
    x, y = broadcast(x.to(torch.int64).abs(), y.to(torch.int64).abs())
    for _ in range(_EUCLID_STEPS.get(dtype, 92)):
        rest = torch.remainder(x, torch.where(y == 0, torch.ones_like(y), y))
        x, y = torch.where(y == 0, x, y), torch.where(y == 0, torch.zeros_like(y), rest)
    return x.to(dtype)


_EUCLID_STEPS = {torch.int8: 11, torch.uint8: 13, torch.int16: 23, torch.int32: 46}
"""The longest runs of Euclid's algorithm, met by Fibonacci numbers (Lamé)."""


@FAMILY.decomposes("aten::lcm", method="|x| / gcd(x, y) · |y|")
def lcm(x: Tensor, y: Tensor) -> Tensor:
    divisor = gcd(x, y)
    quotient = torch.div(x, divisor.clamp(min=1), rounding_mode="trunc") * y
    return torch.where(divisor == 0, torch.zeros_like(quotient), quotient).abs()


FAMILY.composites |= {"aten::fix"}
