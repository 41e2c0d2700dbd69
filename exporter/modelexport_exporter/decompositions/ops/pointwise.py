"""Pointwise functions of C's math library: signs of zeros, atan2, hypot, fmax, frexp."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from modelexport_exporter.decompositions.dtypes import as_floats
from modelexport_exporter.decompositions.ops.arithmetic import broadcast, infinite
from modelexport_exporter.decompositions.registry import Family

FAMILY = Family("Pointwise functions", __doc__)


@FAMILY.decomposes(
    "aten::signbit",
    defect="x < 0: -0.0 counts as positive",
    method="x < 0, or 1/x < 0 for a zero; NaN counts as positive",
)
def signbit(x: Tensor) -> Tensor:
    if not x.dtype.is_floating_point:
        return x < 0
    return (x < 0) | ((x == 0) & (1 / x < 0))


@FAMILY.decomposes("aten::copysign.Tensor", method="|x| with the sign bit of the other")
def copysign(x: Tensor, other: Tensor) -> Tensor:
    dtype = torch.promote_types(as_floats(x).dtype, other.dtype)
    size = x.to(dtype).abs()
    return torch.where(signbit(other), -size, size)


@FAMILY.decomposes("aten::copysign.Scalar", method="|x| with the sign bit of the other")
def copysign_scalar(x: Tensor, other: float) -> Tensor:
    size = as_floats(x).abs()
    return -size if math.copysign(1.0, other) < 0 else size


@FAMILY.decomposes(
    "aten::atan2",
    defect="wrong quadrant for signed zeros and infinities",
    report="https://github.com/pytorch/pytorch/issues/162570",
    method="atan(y/x) moved to its quadrant, signed zeros and infinities as in C",
    accuracy="3e-7 (float32)",
)
def atan2(y: Tensor, x: Tensor) -> Tensor:
    dtype = torch.promote_types(as_floats(y).dtype, as_floats(x).dtype)
    y, x = broadcast(y.to(dtype), x.to(dtype))
    both = torch.isinf(y) & torch.isinf(x)
    y, x = torch.where(both, torch.sign(y), y), torch.where(both, torch.sign(x), x)
    zero = (y == 0) & (x == 0)
    angle = torch.atan(y.abs() / torch.where(zero, torch.ones_like(x), x.abs()))
    angle = torch.where(signbit(x), math.pi - angle, angle)
    return torch.where(signbit(y), -angle, angle)


@FAMILY.decomposes(
    "aten::hypot", method="the larger times sqrt(1 + ratio²)", accuracy="3e-7 (float32)"
)
def hypot(x: Tensor, y: Tensor) -> Tensor:
    x, y = broadcast(x.abs(), y.abs())
    large, small = torch.maximum(x, y), torch.minimum(x, y)
    ratio = small / torch.where(large == 0, torch.ones_like(large), large)
    value = large * torch.sqrt(1 + ratio * ratio)
    return torch.where(torch.isinf(x) | torch.isinf(y), infinite(value), value)


@FAMILY.decomposes(
    "aten::heaviside", defect="1 for NaN", method="the given value at zero, 1 above, 0 elsewhere"
)
def heaviside(x: Tensor, at_zero: Tensor) -> Tensor:
    return torch.where(x == 0, at_zero, (x > 0).to(x.dtype))


@FAMILY.decomposes(
    "aten::angle",
    defect="0 for NaN, and integers for integers",
    method="pi below zero, 0 elsewhere, NaN for NaN",
    applies=lambda x: not x.is_complex(),
)
def angle(x: Tensor) -> Tensor:
    x = as_floats(x)
    sides = torch.where(x < 0, math.pi, torch.zeros_like(x))
    return torch.where(torch.isnan(x), x, sides)


@FAMILY.decomposes(
    "aten::logit",
    defect="NaN is the upper end of a given eps",
    method="log(z / (1 - z)), z clamped by eps",
    applies=lambda _, eps=None: eps is not None,
)
def logit(x: Tensor, eps: float | None = None) -> Tensor:
    x = as_floats(x)
    z = x
    if eps is not None and eps <= 1 - eps:
        z = x.clamp(eps, 1 - eps)
    elif eps is not None:  # the lower end goes first, where a clamp ends with the upper one
        z = torch.where(x < eps, eps, torch.where(x > 1 - eps, 1 - eps, x))
    return torch.log(z / (1 - z))


@FAMILY.decomposes("aten::fmax", method="maximum, a NaN giving way to the other")
def fmax(x: Tensor, y: Tensor) -> Tensor:
    x, y = _alike(x, y)
    if not x.dtype.is_floating_point:
        return torch.maximum(x, y)
    return torch.where(torch.isnan(x) | (y >= x), torch.where(torch.isnan(y), x, y), x)


@FAMILY.decomposes("aten::fmin", method="minimum, a NaN giving way to the other")
def fmin(x: Tensor, y: Tensor) -> Tensor:
    x, y = _alike(x, y)
    if not x.dtype.is_floating_point:
        return torch.minimum(x, y)
    return torch.where(torch.isnan(x) | (y <= x), torch.where(torch.isnan(y), x, y), x)


def _alike(x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
    dtype = torch.promote_types(x.dtype, y.dtype)
    x, y = broadcast(x.to(dtype), y.to(dtype))
    return x, y


@FAMILY.decomposes(
    "aten::logaddexp",
    defect="the exponentials overflow",
    method="max + log1p(exp(min - max)), equal infinities as they are",
    accuracy="3e-7 (float32)",
)
def logaddexp(x: Tensor, y: Tensor) -> Tensor:
    high, low, gap = _ordered(x, y)
    return torch.where(torch.isinf(high) & (high == low), high, high + torch.log1p(torch.exp(gap)))


def _ordered(x: Tensor, y: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Return the larger, the smaller, and the smaller less the larger; 0 for equal infinities."""
    high, low = torch.maximum(x, y), torch.minimum(x, y)
    return high, low, torch.where(high == low, torch.zeros_like(high), low - high)


@FAMILY.decomposes(
    "aten::logaddexp2",
    defect="the powers of 2 overflow",
    method="max + log2(1 + 2^(min - max)), equal infinities as they are",
    accuracy="3e-7 (float32)",
)
def logaddexp2(x: Tensor, y: Tensor) -> Tensor:
    high, low, gap = _ordered(x, y)
    share = torch.exp2(gap)
    small = torch.log1p(share) * (1 / math.log(2))
    above = torch.where(share > 0.5, torch.log2(1 + share), small)
    return torch.where(torch.isinf(high) & (high == low), high, high + above)


@FAMILY.decomposes(
    "aten::frexp.Tensor",
    method="exponent from log2, corrected so that the mantissa lies in [1/2, 1)",
    accuracy="exact but for float64's subnormal numbers",
)
def frexp(x: Tensor) -> tuple[Tensor, Tensor]:
    finite = torch.isfinite(x) & (x != 0)
    dtype, x = x.dtype, x.to(torch.float64)
    size = torch.where(finite, x.abs(), torch.ones_like(x))
    exponent = torch.floor(torch.log2(size))
    mantissa = size * torch.exp2(-exponent)
    exponent = torch.where(mantissa < 1, exponent - 1, exponent)
    exponent = torch.where(mantissa >= 2, exponent + 1, exponent)
    mantissa = x * torch.exp2(-exponent) / 2
    exponent = torch.where(finite, exponent + 1, torch.zeros_like(exponent))
    return torch.where(finite, mantissa, x).to(dtype), exponent.to(torch.int32)


@FAMILY.decomposes(
    "aten::sign",
    "aten::sgn",
    defect="ONNX's Sign of NaN is NaN, eager's 0; onnxruntime's of int64 is wrong from 2³¹ on",
    method="(x > 0) - (x < 0): NaN has sign 0",
    applies=lambda x: x.dtype.is_floating_point or x.dtype is torch.int64,
)
def sign(x: Tensor) -> Tensor:
    return (x > 0).to(x.dtype) - (x < 0).to(x.dtype)


FAMILY.composites |= {
    "aten::arctan2",
    # torch.onnx translates these aliases without promoting their types.
    *(f"aten::{name}.Tensor" for name in ("greater", "greater_equal", "less", "less_equal")),
    *(
        f"aten::{name}.{overload}"
        for name in ("multiply", "subtract", "divide", "true_divide")
        for overload in ("Tensor", "Scalar")
    ),
    "aten::special_erf",
    "aten::special_erfc",
}
