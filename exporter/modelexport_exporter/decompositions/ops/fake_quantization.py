"""Fake quantization to other ranges than those of int8 and uint8: 4 bits, 7 bits, narrow ranges.

ONNX's QuantizeLinear saturates at the ends of its types only. Ranges of 8 bits stay pairs of
QuantizeLinear and DequantizeLinear, which quantizing runtimes look for.
"""

from __future__ import annotations

from functools import partial

import torch
from torch import Tensor

from modelexport_exporter.decompositions.registry import Family

FAMILY = Family("Fake quantization", __doc__)

_EIGHT_BITS = ((0, 255), (-128, 127))
_BEYOND_INT64 = 2.0**63


def _has_other_range(*arguments: object, **options: object) -> bool:
    low = options.get("quant_min", arguments[-2] if len(arguments) > 1 else None)
    high = options.get("quant_max", arguments[-1])
    return (low, high) not in _EIGHT_BITS


_decomposes = partial(
    FAMILY.decomposes,
    defect="only ranges of 8 bits",
    method="(clamp(round(x · (1 / scale)) + zero point) - zero point) · scale",
    applies=_has_other_range,
)


def _quantized(
    x: Tensor, scale: Tensor, zero_point: Tensor, low: int, high: int, *, wraps: bool
) -> Tensor:
    """Return x on the grid. torch casts to int64, of which NaN is the lowest number.

    `wraps`: whether numbers beyond int64 are the lowest, too.
    """
    steps = torch.round(x.float() * (1 / scale))
    whole = torch.clamp(steps + zero_point, low, high)
    lost = ~(steps < _BEYOND_INT64) if wraps else torch.isnan(steps)
    whole = torch.where(lost, torch.full_like(whole, low), whole)
    return ((whole - zero_point) * scale).to(x.dtype)


@_decomposes("aten::fake_quantize_per_tensor_affine")
def per_tensor(x: Tensor, scale: float, zero_point: int, quant_min: int, quant_max: int) -> Tensor:
    step = torch.full((), scale, dtype=torch.float32, device=x.device)
    zero = torch.full((), zero_point, dtype=torch.float32, device=x.device)
    return _quantized(x, step, zero, quant_min, quant_max, wraps=False)


@_decomposes("aten::fake_quantize_per_tensor_affine.tensor_qparams")
def per_tensor_of_tensors(
    x: Tensor, scale: Tensor, zero_point: Tensor, quant_min: int, quant_max: int
) -> Tensor:
    step, zero = scale.float().reshape(()), zero_point.float().reshape(())
    return _quantized(x, step, zero, quant_min, quant_max, wraps=False)


@_decomposes("aten::fake_quantize_per_channel_affine")
def per_channel(
    x: Tensor, scale: Tensor, zero_point: Tensor, axis: int, quant_min: int, quant_max: int
) -> Tensor:
    shape = [-1 if place == axis % x.dim() else 1 for place in range(x.dim())]
    step, zero = scale.float().reshape(shape), zero_point.float().reshape(shape)
    return _quantized(x, step, zero, quant_min, quant_max, wraps=True)
