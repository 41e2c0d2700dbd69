"""Batch normalization in training: by the statistics of the batch, where running ones are given."""

from __future__ import annotations

import torch
from torch import Tensor

from modelexport_exporter.decompositions.ops.double_precision import of_channels, scaled_channels
from modelexport_exporter.decompositions.registry import Family

FAMILY = Family("Batch statistics", __doc__)


def normalized(
    x: Tensor, weight: Tensor | None, bias: Tensor | None, eps: float
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Return the normalized batch; mean, variance and 1 / deviation of each channel."""
    axes = [axis for axis in range(x.dim()) if axis != 1]
    mean = x.mean(axes)
    centred = x - of_channels(mean, x.dim())
    variance = (centred * centred).mean(axes)
    inverse = 1 / torch.sqrt(variance + eps)
    result = scaled_channels(centred * of_channels(inverse, x.dim()), weight, bias)
    return result, mean, variance, inverse


def _trains(*given: object, **__: object) -> bool:
    return bool(given[5])


@FAMILY.decomposes(
    "aten::_native_batch_norm_legit_functional",
    defect="torch.onnx normalizes by the running statistics, in training too",
    method="(x - mean) / sqrt(variance + epsilon) · weight + bias, in training",
    accuracy="3e-7 (float32)",
    applies=_trains,
)
def native_batch_norm(
    x: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    running_mean: Tensor,
    running_variance: Tensor,
    training: bool,
    momentum: float,
    eps: float,
) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor]:
    result, mean, variance, inverse = normalized(x, weight, bias, eps)
    count = x.numel() // x.shape[1]
    unbiased = variance * count / (count - 1)
    running_mean = running_mean * (1 - momentum) + mean * momentum
    running_variance = running_variance * (1 - momentum) + unbiased * momentum
    return result, mean, inverse, running_mean, running_variance
