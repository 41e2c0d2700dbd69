"""Operators of opset 23 and newer: attention and the norm by the root of the mean square.

Attention without a mask only: with one, and in float64, it is decomposed.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F  # noqa: N812

from kernels.kernel import Arguments, Kernel
from kernels.values import FLOATS, drawn

OPSET = 23
_SHAPES = ((1, 1, 1, 1, 1), (2, 3, 5, 7, 4), (1, 2, 17, 33, 8), (2, 2, 16, 16, 16))
"""Batch, heads, queries, keys, width."""


def _heads(values: list[float], dtype: torch.dtype) -> Iterator[Arguments]:
    """Yield queries, keys and values; also no batch, no keys and no queries."""
    for batch, heads, queries, keys, width in _SHAPES:
        yield _drawn(values, dtype, (batch, heads, queries, width), (batch, heads, keys, width))
    for empty in ((0, 2, 3, 4), (0, 2, 3, 4)), ((1, 2, 3, 4), (1, 2, 0, 4)), ((1, 2, 0, 4),) * 2:
        yield _drawn(values, dtype, *empty)


def _groups(values: list[float], dtype: torch.dtype) -> Iterator[Arguments]:
    """Yield queries of twice as many heads as keys and values have."""
    for batch, heads, queries, keys, width in ((1, 2, 5, 7, 4), (2, 1, 3, 3, 8)):
        yield _drawn(values, dtype, (batch, 2 * heads, queries, width), (batch, heads, keys, width))


def _drawn(
    values: list[float], dtype: torch.dtype, query: tuple[int, ...], key: tuple[int, ...]
) -> Arguments:
    return tuple(drawn(values, shape, dtype, n) for n, shape in enumerate((query, key, key)))


def _attention(variant: str, onnx: dict[str, Any], **eager: Any) -> Kernel:  # noqa: ANN401
    return Kernel(
        "Attention",
        lambda q, k, v: F.scaled_dot_product_attention(q, k, v, **eager),
        _groups if eager.get("enable_gqa") else _heads,
        onnx,
        dtypes=FLOATS,
        opset=OPSET,
        variant=variant,
    )


def _rows(values: list[float], dtype: torch.dtype) -> Iterator[Arguments]:
    for shape in ((2, 3, 5, 7), (1, 1, 5, 7), (3, 9, 5, 7), (0, 3, 5, 7)):
        yield (drawn(values, shape, dtype, sum(shape)),)


def _norm(*normalized: int) -> Kernel:
    def weights(dtype: torch.dtype) -> torch.Tensor:
        return drawn([0.5, -1.25, 2.0, 0.75, -0.5], normalized, dtype, 5)

    def given(dtype: torch.dtype) -> np.ndarray:
        array: np.ndarray = weights(dtype).numpy()
        return array

    return Kernel(
        "RMSNormalization",
        lambda x: F.rms_norm(x, normalized, weights(x.dtype), 1e-5),
        _rows,
        {"axis": -len(normalized), "epsilon": 1e-5},
        {1: given},
        (torch.float32, torch.float64, torch.float16),
        opset=OPSET,
        variant=f"{len(normalized)} dims",
    )


KERNELS = (
    _attention("", {}),
    _attention("causal", {"is_causal": 1}, is_causal=True),
    _attention("scale", {"scale": 0.3}, scale=0.3),
    _attention("groups", {}, enable_gqa=True),
    _norm(7),
    _norm(5, 7),
)
