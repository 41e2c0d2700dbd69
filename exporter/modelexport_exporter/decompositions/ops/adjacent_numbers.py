"""The next number of a dtype in a direction: without a look at bits, which ONNX has not."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from modelexport_exporter.decompositions.ops.arithmetic import broadcast
from modelexport_exporter.decompositions.ops.pointwise import frexp
from modelexport_exporter.decompositions.registry import Family

FAMILY = Family("Adjacent numbers", __doc__)


@FAMILY.decomposes(
    "aten::nextafter",
    method="x ± 2^(exponent - digits), half of it below a power of 2, in float64",
    accuracy="exact but for float64's subnormal numbers",
)
def nextafter(x: Tensor, towards: Tensor) -> Tensor:
    dtype = torch.promote_types(x.dtype, towards.dtype)
    info = torch.finfo(dtype)
    digits, lowest = 1 - math.log2(info.eps), math.log2(info.smallest_normal * info.eps)
    x, towards = broadcast(x.to(torch.float64), towards.to(torch.float64))
    usual = torch.isfinite(x) & (x != 0)
    size = torch.where(usual, x.abs(), 1.0)
    exponent = frexp(size)[1].to(torch.float64)
    step = torch.exp2(torch.clamp(exponent - digits, min=lowest))
    is_power = (size == torch.exp2(exponent - 1)) & (exponent - digits > lowest)
    away = (towards > x) == (x > 0)
    moved = torch.where(away, size + step, size - torch.where(is_power, step / 2, step))
    moved = torch.where(x < 0, -moved, moved)
    least = info.smallest_normal * info.eps
    # A choice of two numbers would be float32.
    from_zero = torch.where(towards < 0, -least, torch.full_like(x, least))
    from_infinity = torch.where(x < 0, -info.max, torch.full_like(x, info.max))
    result = torch.where(x == 0, from_zero, torch.where(usual, moved, from_infinity))
    result = torch.where(x == towards, towards, result)
    return torch.where(torch.isnan(x) | torch.isnan(towards), float("nan"), result).to(dtype)
