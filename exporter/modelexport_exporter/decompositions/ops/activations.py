"""Activation functions with arguments that torch.onnx ignores."""

from __future__ import annotations

import torch
from torch import Tensor

from modelexport_exporter.decompositions.registry import Family

FAMILY = Family("Activations", __doc__)


def _is_scaled_or_double(
    x: Tensor, alpha: float = 1.0, scale: float = 1.0, input_scale: float = 1.0
) -> bool:
    """Return whether it has scale factors that torch.onnx ignores, or no kernel: float64."""
    return scale != 1 or input_scale != 1 or x.dtype == torch.float64


@FAMILY.decomposes(
    "aten::elu",
    defect="torch.onnx ignores input_scale; onnxruntime has no Elu of float64",
    report="https://github.com/microsoft/onnxruntime/issues/16494",
    method="scale · (x, or alpha · expm1(input_scale · x) below 0)",
    accuracy="3e-7 (float32)",
    applies=_is_scaled_or_double,
)
def elu(x: Tensor, alpha: float = 1.0, scale: float = 1.0, input_scale: float = 1.0) -> Tensor:
    below = alpha * torch.expm1(x.clamp(max=0.0) * input_scale)
    return scale * torch.where(x > 0, x, below)


@FAMILY.decomposes(
    "aten::log_sigmoid",
    defect="the logarithm of a sigmoid: -inf where the sigmoid rounds to 0",
    method="min(x, 0) - log1p(exp(-|x|)): the logarithm of a sigmoid that is 0 is infinite",
    accuracy="3e-7 (float32)",
)
def log_sigmoid(x: Tensor) -> Tensor:
    return torch.clamp(x, max=0.0) - torch.log1p(torch.exp(-x.abs()))


@FAMILY.decomposes("aten::rrelu", method="leaky_relu of the mean slope, in evaluation")
def rrelu(
    x: Tensor,
    lower: float = 0.125,
    upper: float = 1 / 3,
    training: bool = False,
    generator: object = None,
) -> Tensor:
    if training:
        slope = torch.rand_like(x) * (upper - lower) + lower
        return torch.where(x >= 0, x, x * slope)
    return torch.nn.functional.leaky_relu(x, (lower + upper) / 2)


def _converts(x: Tensor, dim: int, dtype: torch.dtype | None = None) -> bool:
    return dtype is not None and dtype != x.dtype


@FAMILY.decomposes(
    "aten::softmax.int",
    defect="dtype is applied to the result, not to the input",
    method="the input converted first",
    applies=_converts,
)
def softmax(x: Tensor, dim: int, dtype: torch.dtype | None = None) -> Tensor:
    return torch.softmax(x.to(dtype), dim)


@FAMILY.decomposes(
    "aten::log_softmax.int",
    defect="dtype is applied to the result, not to the input",
    method="the input converted first",
    applies=_converts,
)
def log_softmax(x: Tensor, dim: int, dtype: torch.dtype | None = None) -> Tensor:
    return torch.log_softmax(x.to(dtype), dim)
