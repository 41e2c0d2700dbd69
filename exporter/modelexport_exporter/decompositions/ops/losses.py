"""Losses and attention with arguments that ONNX's operators of that name do not have."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from modelexport_exporter.decompositions.registry import Why, decomposes

_MEAN, _SUM = 1, 2
_ENTROPY = "log_softmax, then the weighted sums that torch defines"


def _reduced(loss: Tensor, reduction: int) -> Tensor:
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
    return label_smoothing != 0 or target.dtype.is_floating_point


@decomposes(
    "aten::cross_entropy_loss",
    why=Why.WRONG,
    method=_ENTROPY + ": label smoothing and targets that are probabilities",
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
        return _reduced(loss, reduction)
    used = target != ignore_index
    index = torch.where(used, target, torch.zeros_like(target))
    picked = -weighted.gather(axis, index.unsqueeze(axis)).squeeze(axis)
    smooth = -weighted.sum(axis) / classes
    loss = (1 - label_smoothing) * picked + label_smoothing * smooth
    loss = torch.where(used, loss, torch.zeros_like(loss))
    if reduction != _MEAN:
        return _reduced(loss, reduction)
    counted = used.to(x.dtype) if weight is None else torch.where(used, weight[index], 0.0)
    return loss.sum() / counted.sum()


@decomposes(
    "aten::binary_cross_entropy_with_logits",
    why=Why.WRONG,
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
    return _reduced(loss if weight is None else loss * weight, reduction)


def _has_mask_or_other_dims(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attn_mask: Tensor | None = None,
    *_: object,
    **__: object,
) -> bool:
    """Return whether ONNX's operator, of four dims, computes something else."""
    return attn_mask is not None or query.dim() != 4


@decomposes(
    "aten::scaled_dot_product_attention",
    why=Why.WRONG,
    method="softmax(q kᵀ · scale + mask) v, zeros for a query that may see nothing",
    accuracy="1e-6 (float32)",
    applies=_has_mask_or_other_dims,
)
def scaled_dot_product_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attn_mask: Tensor | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    *,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> Tensor:
    if enable_gqa:
        key = key.repeat_interleave(query.shape[-3] // key.shape[-3], -3)
        value = value.repeat_interleave(query.shape[-3] // value.shape[-3], -3)
    scores = query @ key.mT * (1 / math.sqrt(query.shape[-1]) if scale is None else scale)
    if is_causal:
        rows = torch.arange(query.shape[-2], device=query.device).unsqueeze(-1)
        attn_mask = torch.arange(key.shape[-2], device=query.device) <= rows
    if attn_mask is None:
        weights = torch.softmax(scores, -1)
    else:
        if attn_mask.dtype == torch.bool:
            scores = torch.where(attn_mask, scores, -float("inf"))
        else:
            scores = scores + attn_mask
        blind = scores.amax(-1, keepdim=True) == -float("inf")
        weights = torch.where(blind, 0.0, torch.softmax(scores, -1))
    return torch.dropout(weights, dropout_p, dropout_p > 0) @ value
