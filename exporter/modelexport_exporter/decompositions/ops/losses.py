"""Losses with arguments that ONNX's operators of that name do not have."""

from __future__ import annotations

import torch
from torch import Tensor

from modelexport_exporter.decompositions.registry import Family

FAMILY = Family("Losses", __doc__)

_MEAN, _SUM = 1, 2
_ENTROPY = "log_softmax, then the weighted sums that torch defines"


def _reduce(loss: Tensor, reduction: int) -> Tensor:
    if reduction == _MEAN:
        return loss.mean()
    return loss.sum() if reduction == _SUM else loss


def _needs_sums(
    x: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    reduction: int = _MEAN,
    ignore_index: int = -100,
    label_smoothing: float = 0.0,
) -> bool:
    return label_smoothing != 0 or target.dtype.is_floating_point or x.dim() == 1


@FAMILY.decomposes(
    "aten::cross_entropy_loss",
    defect="label smoothing is ignored; with probabilities as target, or without a batch, the file "
    "does not load",
    method=_ENTROPY + ": label smoothing, targets that are probabilities, no batch",
    accuracy="3e-7 (float32)",
    applies=_needs_sums,
)
def cross_entropy_loss(
    x: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    reduction: int = _MEAN,
    ignore_index: int = -100,
    label_smoothing: float = 0.0,
) -> Tensor:
    axis = 0 if x.dim() == 1 else 1
    classes = x.shape[axis]
    shape = [1] * x.dim()
    shape[axis] = -1
    logs = torch.log_softmax(x, axis)
    weighted = logs if weight is None else logs * weight.reshape(shape)
    if target.dtype.is_floating_point:
        if label_smoothing:
            target = target * (1 - label_smoothing) + label_smoothing / classes
        loss = -(weighted * target).sum(axis)
        return _reduce(loss, reduction)
    used = target != ignore_index
    index = torch.where(used, target, torch.zeros_like(target))
    picked = -weighted.gather(axis, index.unsqueeze(axis)).squeeze(axis)
    loss = picked
    if label_smoothing:
        smooth = -weighted.sum(axis) / classes
        loss = (1 - label_smoothing) * picked + label_smoothing * smooth
    loss = torch.where(used, loss, torch.zeros_like(loss))
    if reduction != _MEAN:
        return _reduce(loss, reduction)
    counted = used.to(x.dtype) if weight is None else torch.where(used, weight[index], 0.0)
    return loss.sum() / counted.sum()


@FAMILY.decomposes(
    "aten::binary_cross_entropy_with_logits",
    defect="infinite where the sigmoid rounds to 0 or 1",
    method="(1 - target) · x - weight · log_sigmoid(x), finite where the sigmoid is 0",
    accuracy="3e-7 (float32)",
)
def binary_cross_entropy_with_logits(
    x: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    pos_weight: Tensor | None = None,
    reduction: int = _MEAN,
) -> Tensor:
    logs = torch.nn.functional.logsigmoid(x)
    if pos_weight is not None:
        logs = logs * ((pos_weight - 1) * target + 1)
    loss = (1 - target) * x - logs
    return _reduce(loss if weight is None else loss * weight, reduction)
