"""Symbolic functions of divisions and of products with a factor, for scripted models.

torch's TorchScript exporter cuts `x // y` towards zero, rounds the quotient before it subtracts
(1.0 % 0.1 is 0, 1.0 // 0.1 is 10), leaves `math.ceil(x)` a float, and writes the factor of addcmul
as float32. A trace shows the decompositions of the library instead of the divisions.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

import torch

from modelexport_exporter.torch_internals.symbolics import JitScalarType, is_float

Value: TypeAlias = Any
"""torch._C.Value and torch's GraphContext, which are untyped."""

INT64 = 7
"""onnx.TensorProto's element type."""


def _number(g: Value, number: float) -> Value:
    """Return a constant, which gets the dtype of the tensor that it meets."""
    return g.op("Constant", value_t=torch.tensor(number))


def _rest(g: Value, x: Value, y: Value) -> tuple[Value, Value]:
    """Return x - y * trunc(x / y), which is exact, and where its sign is not that of y."""
    rest, zero = g.op("Mod", x, y, fmod_i=1), _number(g, 0)
    signs = g.op("Xor", g.op("Less", rest, zero), g.op("Less", y, zero))
    return rest, g.op("And", signs, g.op("Not", g.op("Equal", rest, zero)))


def _is_integer(value: Value) -> bool:
    """Return whether a value is known to be of integers; a script does not know every dtype."""
    found = JitScalarType.from_value(value, JitScalarType.UNDEFINED)
    return found is not JitScalarType.UNDEFINED and not is_float(value)


def _remainder(g: Value, x: Value, y: Value) -> Value:
    if _is_integer(x) and _is_integer(y):
        return g.op("Mod", x, y)
    rest, opposite = _rest(g, x, y)
    return g.op("Where", opposite, g.op("Add", rest, y), rest)


def _floor_divide(g: Value, x: Value, y: Value) -> Value:
    """Divide what is left without the rest: an integer, but for its rounding."""
    if _is_integer(x) and _is_integer(y):
        return _floor_divide_integers(g, x, y)
    rest, opposite = _rest(g, x, y)
    quotient = g.op("Div", g.op("Sub", x, rest), y)
    floats = is_float(x) or is_float(y)
    quotient = g.op("Round", quotient) if floats else quotient
    down = g.op("Where", opposite, g.op("Sub", quotient, _number(g, 1)), quotient)
    if not floats:
        return down
    return g.op("Where", g.op("Equal", y, _number(g, 0)), g.op("Div", x, y), down)


def _floor_divide_integers(g: Value, x: Value, y: Value) -> Value:
    """Divide towards zero, and one lower where the rest of that is not Mod's, of the sign of y.

    The smallest integer less a rest has an overflow, and Mod with fmod computes in float64.
    """
    cut = g.op("Div", x, y)
    rest = g.op("Sub", x, g.op("Mul", cut, y))
    same = g.op("Equal", rest, g.op("Mod", x, y))
    return g.op("Where", same, cut, g.op("Sub", cut, _number(g, 1)))


def _add_product(operator: str) -> Callable[..., Value]:
    def add(g: Value, x: Value, one: Value, other: Value, factor: Value) -> Value:
        product = g.op(operator, one, other)
        return g.op("Add", x, g.op("Mul", product, factor))

    return add


def _rounding(operator: str) -> Callable[..., Value]:
    def rounded(g: Value, x: Value) -> Value:
        found = g.op(operator, x)
        # Of a number of Python: torch keeps the type of its result, and none of a tensor's.
        return g.op("Cast", found, to_i=INT64) if _is_integer(g.original_node.output()) else found

    return rounded


DIVISIONS: Mapping[str, Callable[..., Value]] = {
    "aten::ceil": _rounding("Ceil"),
    "aten::floor": _rounding("Floor"),
    "aten::floor_divide": _floor_divide,
    "aten::floordiv": _floor_divide,
    "aten::remainder": _remainder,
    "aten::addcmul": _add_product("Mul"),
}
SINCE = 11
"""The first opset whose Equal takes floats."""
