"""Fake quantization of tensors with dynamic dims, which torch traces at fixed sizes only."""

from __future__ import annotations

import torch
from torch import Tensor

from modelexport_exporter.decompositions.capture.registry import Replacements, Result, is_open
from modelexport_exporter.decompositions.ops import fake_quantization as formulas

CALLS = Replacements()


@CALLS.replaces("fake_quantize_per_tensor_affine", torch.fake_quantize_per_tensor_affine)
def fake_quantize_per_tensor_affine(
    x: Tensor,
    scale: Tensor | float,
    zero_point: Tensor | int,
    quant_min: int,
    quant_max: int,
) -> Result:
    if not any(map(is_open, x.shape)):
        return NotImplemented
    if isinstance(scale, Tensor) and isinstance(zero_point, Tensor):
        return formulas.per_tensor_of_tensors(x, scale, zero_point, quant_min, quant_max)
    return formulas.per_tensor(x, float(scale), int(zero_point), quant_min, quant_max)


@CALLS.replaces("fake_quantize_per_channel_affine", torch.fake_quantize_per_channel_affine)
def fake_quantize_per_channel_affine(
    x: Tensor, scale: Tensor, zero_point: Tensor, axis: int, quant_min: int, quant_max: int
) -> Result:
    if not any(map(is_open, x.shape)):
        return NotImplemented
    return formulas.per_channel(x, scale, zero_point, axis, quant_min, quant_max)
