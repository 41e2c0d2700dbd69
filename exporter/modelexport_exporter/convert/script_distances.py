"""The symbolic function of cdist: torch's loses digits in scripts, where sizes are not known.

It multiplies, |x|² + |y|² - 2xy, in which a point 2,000 from zero is 1 away from itself, or adds
1e-6 to each difference. Eager PyTorch subtracts, up to 25 rows.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

import torch

from modelexport_exporter.torch_internals.symbolics import read_attribute

Value: TypeAlias = Any
"""torch._C.Value and torch's GraphContext, which are untyped."""
SINCE = 13
"""Opset since which axes are inputs of Unsqueeze and ReduceSum; of other reductions since 18."""
_AXES_OF_MAX = 18
_BOOL = 9
"""onnx.TensorProto's element type."""


def _cdist(g: Value, x: Value, y: Value, p: Value, *_mode: Value) -> Value:
    """Write the p-norms of all differences; memory grows as the product of the sizes."""
    apart = g.op("Sub", g.op("Unsqueeze", x, _axes(g, -2)), g.op("Unsqueeze", y, _axes(g, -3)))
    norm = float(read_attribute(p.node(), "value"))
    if norm == 2:  # noqa: PLR2004
        return g.op("Sqrt", _sum(g, g.op("Mul", apart, apart)))
    size = g.op("Abs", apart)
    if norm == 1:
        return _sum(g, size)
    if math.isinf(norm):
        return _largest(g, size)
    if norm == 0:
        return _sum(g, g.op("CastLike", g.op("Cast", size, to_i=_BOOL), size))
    power = _number(g, norm, size)
    return g.op("Pow", _sum(g, g.op("Pow", size, power)), _number(g, 1 / norm, size))


def _axes(g: Value, axis: int) -> Value:
    return g.op("Constant", value_t=torch.tensor([axis]))


def _sum(g: Value, x: Value) -> Value:
    return g.op("ReduceSum", x, _axes(g, -1), keepdims_i=0)


def _largest(g: Value, x: Value) -> Value:
    if g.opset >= _AXES_OF_MAX:
        return g.op("ReduceMax", x, _axes(g, -1), keepdims_i=0)
    return g.op("ReduceMax", x, axes_i=[-1], keepdims_i=0)


def _number(g: Value, value: float, like: Value) -> Value:
    return g.op("CastLike", g.op("Constant", value_t=torch.tensor(value)), like)


DISTANCES: Mapping[str, Callable[..., Value]] = {"aten::cdist": _cdist}
"""Registered for opset 13; CastLike, of rare norms, is part of ONNX since 15."""
