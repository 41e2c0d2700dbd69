"""Arguments of `g.op` as older symbolic functions give them.

Where an attribute needs a number, they pass a constant of the graph; where an operator needs an
input, they pass a Python number.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import torch

from modelexport_exporter.plugins.graph_values import constant_of, number_of
from modelexport_exporter.torch_internals.symbolics import JitScalarType

_OBSOLETE = frozenset({"broadcast_i"})
"""Attributes of opset 6 for what every operator does since opset 7."""
_CASTS: dict[str, Callable[[Any], object]] = {"f": float, "i": int, "s": str}


def as_attributes(attributes: Mapping[str, object]) -> dict[str, object]:
    """Return values for attributes such as `alpha_f`: constants of the graph become numbers."""
    return {
        key: _as_attribute(key, value) for key, value in attributes.items() if key not in _OBSOLETE
    }


def _as_attribute(key: str, value: object) -> object:
    kind = key.rpartition("_")[2]
    found = constant_of(value)
    if isinstance(found, list | tuple):
        return [_cast(kind, constant_of(item)) for item in found]
    return _cast(kind, found)


def _cast(kind: str, value: object) -> object:
    if kind not in _CASTS or value is None or isinstance(value, torch.Value):
        return value
    if isinstance(value, torch.Tensor) and value.numel() != 1:
        return [_CASTS[kind](item) for item in value.flatten().tolist()]
    return _CASTS[kind](number_of(value))


def as_inputs(inputs: tuple[object, ...]) -> list[object]:
    """Return inputs of an operator: a number becomes a tensor of its neighbours' element type."""
    neighbour = next((entry for entry in inputs if isinstance(entry, torch.Value)), None)
    return [_as_input(value, neighbour) for value in inputs]


def _as_input(value: object, neighbour: torch.Value | None) -> object:
    if not isinstance(value, bool | int | float | list | tuple):
        return value
    if isinstance(value, list | tuple) and any(isinstance(item, torch.Value) for item in value):
        return value
    undefined = JitScalarType.UNDEFINED
    known = JitScalarType.from_value(neighbour, undefined)
    whole = isinstance(value, list | tuple)
    dtype = None if whole or known is undefined else known.dtype()
    return torch.tensor(value, dtype=dtype)
