"""What the layers of a module take: their ranks, and the sizes that their weights fix."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import torch

from modelexport_api.spec import DType
from modelexport_exporter.call.tensors import SPEC_DTYPES

_CONVOLUTIONS = {"Conv1d": 3, "Conv2d": 4, "Conv3d": 5}
_TRANSPOSED = {"ConvTranspose1d": 3, "ConvTranspose2d": 4, "ConvTranspose3d": 5}
_RECURRENT = {"LSTM": "weight_ih_l0", "GRU": "weight_ih_l0", "RNN": "weight_ih_l0"}
_MOST = 64


@dataclass(frozen=True)
class Layer:
    """An input that a layer takes: its rank, and its sizes by axis."""

    rank: int
    constants: tuple[tuple[int, int], ...] = ()
    """(axis, size)"""
    dtype: DType = DType.FLOAT32
    rows: int | None = None
    """Of an embedding."""


def layers_of(module: torch.nn.Module, floating: DType) -> list[Layer]:
    """Return what the first layers of a module take, in the order in which they were made."""
    found = dict.fromkeys(_layers(module, floating))
    return list(found)[:_MOST]


def _layers(module: torch.nn.Module, floating: DType) -> Iterator[Layer]:
    for part in module.modules():
        name = getattr(part, "original_name", type(part).__name__)
        own = dict(part.named_parameters(recurse=False))
        weight = own.get("weight", own.get(_RECURRENT.get(name, ""), own.get("in_proj_weight")))
        if weight is None:
            continue
        shape = tuple(weight.shape)
        if name in _CONVOLUTIONS and len(shape) == _CONVOLUTIONS[name]:
            channels = shape[1] * int(getattr(part, "groups", 1))
            yield Layer(len(shape), ((1, channels),), floating)
        elif name in _TRANSPOSED:
            yield Layer(len(shape), ((1, shape[0]),), floating)
        elif name in {"Embedding", "EmbeddingBag"}:
            yield Layer(2, (), DType.INT64, shape[0])
        elif name in _RECURRENT or name == "MultiheadAttention":
            yield Layer(3, ((2, shape[-1]),), floating)
        elif name == "Linear":
            yield Layer(2, ((1, shape[1]),), floating)
            yield Layer(3, ((2, shape[1]),), floating)
        elif name.startswith("BatchNorm") and name[-2:-1].isdigit():
            yield Layer({"1": 2, "2": 4, "3": 5}[name[-2]], ((1, shape[0]),), floating)
        elif name == "LayerNorm":
            yield Layer(3, ((2, shape[-1]),), floating)


def floating_dtype(module: torch.nn.Module) -> DType:
    """Return the floating-point dtype of a module's weights; float32 if it has none."""
    for tensor in (*module.parameters(), *module.buffers()):
        if tensor.is_floating_point() and tensor.dtype in SPEC_DTYPES:
            return SPEC_DTYPES[tensor.dtype]
    return DType.FLOAT32
