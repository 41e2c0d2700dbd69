"""Scaled dot-product attention with masks and shapes that ONNX's operator does not have."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from modelexport_exporter.decompositions.registry import Family
from modelexport_exporter.decompositions.sizes import Size, number

FAMILY = Family("Attention", __doc__)


def _differs_from_onnx(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attn_mask: Tensor | None = None,
    *_: object,
    **__: object,
) -> bool:
    """Return whether ONNX's operator, of four dims and a scale of float32, computes otherwise."""
    return attn_mask is not None or query.dim() != 4 or query.dtype is torch.float64


@FAMILY.decomposes(
    "aten::scaled_dot_product_attention",
    defect="a query whose mask is False throughout; three dims; the scale has single precision",
    report="https://github.com/microsoft/onnxscript/pull/2479",
    method="softmax(q kᵀ · scale + mask) v, zeros for a query that may see nothing",
    accuracy="1e-6 (float32)",
    applies=_differs_from_onnx,
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
    scores = _scores(query, key, attn_mask, is_causal, scale)
    return _attended(scores, value, is_causal or attn_mask is not None, dropout_p)


def _attended(scores: Tensor, value: Tensor, masked: bool, dropout_p: float) -> Tensor:
    """Return softmax(scores) value, zeros for a query that may see nothing."""
    weights = torch.softmax(scores, -1)
    if masked:
        weights = torch.where(_sees_nothing(scores, weights), 0.0, weights)
    return torch.dropout(weights, dropout_p, dropout_p > 0) @ value


def _scores(
    query: Tensor, key: Tensor, mask: Tensor | None, is_causal: bool, scale: float | None
) -> Tensor:
    """Return q kᵀ · scale + mask, -inf where a query may not see a key."""
    scores = query @ key.mT * (_default_scale(query) if scale is None else scale)
    if is_causal:
        rows = torch.arange(query.shape[-2], device=query.device).unsqueeze(-1)
        mask = torch.arange(key.shape[-2], device=query.device) <= rows
    if mask is None:
        return scores
    if mask.dtype == torch.bool:
        return torch.where(mask, scores, -float("inf"))
    return scores + mask


@FAMILY.decomposes(
    "aten::_scaled_dot_product_flash_attention_for_cpu",
    defect="the logarithms of the sums have another shape",
    method="as scaled_dot_product_attention, and log Σ exp of the scores",
    accuracy="1e-6 (float32)",
)
def flash_attention_for_cpu(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    *,
    attn_mask: Tensor | None = None,
    scale: float | None = None,
) -> tuple[Tensor, Tensor]:
    scores = _scores(query, key, attn_mask, is_causal, scale)
    result = _attended(scores, value, is_causal or attn_mask is not None, dropout_p)
    return result, torch.logsumexp(scores, -1)


def _sees_nothing(scores: Tensor, weights: Tensor) -> Tensor:
    """Return for each query whether all of its scores are -inf; [..., 1].

    On CUDA, onnxruntime's ReduceMax returns the lowest finite number for them
    (https://github.com/microsoft/onnxruntime/issues/32256), which a mask of
    `torch.finfo(dtype).min` has, too: softmax is NaN for the first alone. NaN among the scores
    is larger than any number, and +inf is it.
    """
    lowest = torch.finfo(scores.dtype).min
    return (scores.amax(-1, keepdim=True) <= lowest) & weights[..., :1].isnan()


def _default_scale(query: Tensor) -> Tensor | float:
    """Return 1 / sqrt(E); computed in the graph where E is dynamic."""
    width: Size = query.shape[-1]
    if isinstance(width, int):
        return 1 / math.sqrt(width)
    exact = torch.float64 if query.dtype == torch.float64 else torch.float32
    return torch.rsqrt(number(width, exact, query.device))
