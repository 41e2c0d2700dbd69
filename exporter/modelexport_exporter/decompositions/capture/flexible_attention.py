"""`torch.nn.attention.flex_attention` as products of matrices, for which ONNX has operators.

The functions that change scores, or mask them, are written for one score, and torch maps them over
all. Here they get all at once, and places that broadcast: [batch, 1, 1, 1], [heads, 1, 1],
[queries, 1] and [keys]. Formulas: `math_attention` in torch/_higher_order_ops/flex_attention.py.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

import torch
from torch import SymInt, Tensor

from modelexport_exporter.torch_internals.flexible_attention import flexible_attention_by

_OF_A_SCORE = 5
"""Arguments of a function that changes scores: the score itself, and four places."""


def attention_of_changed_scores() -> AbstractContextManager[None]:
    """Let models call flex_attention, inside the block, where torch.export sees its products."""
    return flexible_attention_by(attention, mask)


def attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    score_mod: Callable[..., Tensor],
    block_mask: tuple[Any, ...],
    scale: float,
    *_: object,
) -> tuple[Tensor, Tensor, Tensor]:
    """Return attention, the base-2 logarithm of the sums, and the largest scores over ln 2.

    `query`: [batch, heads, queries, e]; `key`: [batch or 1, kv heads, keys, e]; `value`:
    [batch or 1, kv heads, keys, v]. The results: [batch, heads, queries, v], and twice
    [batch, heads, queries].
    """
    repeats = query.shape[1] // key.shape[1]
    if repeats != 1:
        key, value = (one.repeat_interleave(repeats, 1) for one in (key, value))
    working = torch.float64 if query.dtype == torch.float64 else torch.float32
    scores = query.to(working) @ key.to(working).mT * scale
    batch, heads, queries, keys = scores.shape
    where = _places(batch, heads, queries, keys, scores.device)
    kept = block_mask[-1](*where)
    scores = torch.where(kept, score_mod(scores, *where), -math.inf).to(working)
    largest = scores.amax(-1, keepdim=True)
    weights = torch.where(largest == -math.inf, 0.0, scores.softmax(-1))
    result = weights.to(query.dtype) @ value.to(query.dtype)
    return result, scores.logsumexp(-1) / math.log(2), largest[..., 0] / math.log(2)


def mask(
    mod_fn: Callable[..., Tensor],
    B: int | SymInt | None,  # noqa: N803 - the arguments of torch's own
    H: int | SymInt | None,  # noqa: N803
    Q_LEN: int | SymInt,  # noqa: N803
    KV_LEN: int | SymInt,  # noqa: N803
    device: Any = None,  # noqa: ANN401
) -> Tensor:
    """Return bool [B, H, Q_LEN, KV_LEN]: the scores that the function keeps."""
    size = (1 if B is None else B, 1 if H is None else H, Q_LEN, KV_LEN)
    where = _places(*size, device or "cpu")
    required = [
        own
        for own in inspect.signature(mod_fn).parameters.values()
        if own.default is inspect.Parameter.empty
    ]
    if len(required) == _OF_A_SCORE:
        return ~torch.isneginf(mod_fn(torch.zeros(size, device=device or "cpu"), *where))
    return mod_fn(*where).expand(size)


def _places(
    batch: int | SymInt,
    heads: int | SymInt,
    queries: int | SymInt,
    keys: int | SymInt,
    device: Any,  # noqa: ANN401
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Return int64 [batch, 1, 1, 1], [heads, 1, 1], [queries, 1] and [keys]."""
    b, h, q, k = (torch.arange(size, device=device) for size in (batch, heads, queries, keys))
    return b[:, None, None, None], h[:, None, None], q[:, None], k
