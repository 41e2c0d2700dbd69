"""Norms of float64: their epsilon is an attribute in ONNX, which has single precision."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from modelexport_exporter.decompositions.ops.batch_statistics import normalized
from modelexport_exporter.decompositions.ops.double_precision import (
    is_double,
    of_channels,
    scaled,
    scaled_channels,
)
from modelexport_exporter.decompositions.registry import Family

FAMILY = Family("Norms in double precision", __doc__)


def _normalized(x: Tensor, axes: tuple[int, ...], eps: float) -> Tensor:
    centred = x - x.mean(axes, keepdim=True)
    return centred / torch.sqrt((centred * centred).mean(axes, keepdim=True) + eps)


@FAMILY.decomposes(
    "aten::layer_norm",
    defect="epsilon is an attribute, which has single precision",
    method="(x - mean) / sqrt(variance + epsilon) · weight + bias",
    accuracy="1e-14 (float64)",
    applies=is_double,
)
def layer_norm(
    x: Tensor,
    normalized_shape: Sequence[int | torch.SymInt],
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: float = 1e-5,
    cudnn_enable: bool = True,
) -> Tensor:
    axes = tuple(range(-len(normalized_shape), 0))
    return scaled(_normalized(x, axes, eps), weight, bias)


def _is_double_or_training(x: Tensor, *given: object, **__: object) -> bool:
    """Return whether running statistics are applied to float64, or are given in training.

    Without running statistics, torch.onnx computes those of the batch.
    """
    mean, training = given[2], given[4]
    return mean is not None and (bool(training) or is_double(x))


@FAMILY.decomposes(
    "aten::batch_norm",
    defect="epsilon is an attribute, which has single precision; running statistics in training",
    method="(x - mean) / sqrt(variance + epsilon) · weight + bias",
    accuracy="1e-14 (float64), 3e-7 (float32)",
    applies=_is_double_or_training,
)
def batch_norm(
    x: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    mean: Tensor,
    variance: Tensor,
    training: bool,
    momentum: float,
    eps: float,
    cudnn_enabled: bool,
) -> Tensor:
    if training:
        return normalized(x, weight, bias, eps)[0]
    deviation = torch.sqrt(of_channels(variance, x.dim()) + eps)
    return scaled_channels((x - of_channels(mean, x.dim())) / deviation, weight, bias)


@FAMILY.decomposes(
    "aten::_native_batch_norm_legit_no_training",
    defect="epsilon is an attribute, which has single precision",
    method="as batch_norm, which torch.export writes so",
    accuracy="1e-14 (float64)",
    applies=is_double,
)
def native_batch_norm(
    x: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    mean: Tensor,
    variance: Tensor,
    momentum: float,
    eps: float,
) -> tuple[Tensor, Tensor, Tensor]:
    result = batch_norm(x, weight, bias, mean, variance, False, momentum, eps, False)
    return result, x.new_empty(0), x.new_empty(0)


@FAMILY.decomposes(
    "aten::rms_norm",
    defect="epsilon is an attribute, which has single precision; that of float32 if none is given",
    method="x / sqrt(mean of squares + epsilon) · weight",
    accuracy="1e-14 (float64)",
    applies=is_double,
)
def rms_norm(
    x: Tensor,
    normalized_shape: Sequence[int | torch.SymInt],
    weight: Tensor | None = None,
    eps: float | None = None,
) -> Tensor:
    axes = tuple(range(-len(normalized_shape), 0))
    added = torch.finfo(x.dtype).eps if eps is None else eps
    result = x / torch.sqrt((x * x).mean(axes, keepdim=True) + added)
    return scaled(result, weight, None)


@FAMILY.decomposes(
    "aten::group_norm",
    defect="onnxruntime has no InstanceNormalization of float64",
    method="(x - mean) / sqrt(variance + epsilon) of each group, · weight + bias",
    accuracy="1e-14 (float64)",
    applies=is_double,
)
def group_norm(
    x: Tensor,
    num_groups: int,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: float = 1e-5,
    cudnn_enabled: bool = True,
) -> Tensor:
    groups = x.reshape(x.shape[0], num_groups, -1)
    return scaled_channels(_normalized(groups, (-1,), eps).reshape(x.shape), weight, bias)


def _is_double_of_its_own(x: Tensor, *given: object, **__: object) -> bool:
    """Return whether each instance has statistics of its own, not running ones."""
    return is_double(x) and bool(given[4])


@FAMILY.decomposes(
    "aten::instance_norm",
    defect="onnxruntime has no InstanceNormalization of float64",
    method="as group_norm with a group for each channel",
    accuracy="1e-14 (float64)",
    applies=_is_double_of_its_own,
)
def instance_norm(
    x: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    mean: Tensor | None,
    variance: Tensor | None,
    use_input_stats: bool,
    momentum: float,
    eps: float,
    cudnn_enabled: bool,
) -> Tensor:
    return group_norm(x, x.shape[1], weight, bias, eps)
