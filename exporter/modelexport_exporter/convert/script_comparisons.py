"""Symbolic functions of comparisons.

torch writes `>=` and `<=` as the negation of `<` for opset 11: NaN is neither smaller nor larger,
so that `x >= 0` held for NaN. Opset 12 has operators of its own. The exporter does not know the
dtype of an element of a list: it compared a float with an integer of the program as int64.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from modelexport_exporter.torch_internals.symbolics import JitScalarType

Value: TypeAlias = Any
"""torch._C.Value and torch's GraphContext, which are untyped."""
_INT32 = 6
"""onnx.TensorProto's element type."""


def _or_equal(operator: str) -> Callable[..., Value]:
    def compare(g: Value, x: Value, y: Value) -> Value:
        x, y = (_as_number(g, value) for value in (x, y))
        return g.op("Or", g.op(operator, x, y), g.op("Equal", x, y))

    return compare


def _as_number(g: Value, value: Value) -> Value:
    """Cast booleans, which have no order."""
    dtype = JitScalarType.from_value(value, JitScalarType.UNDEFINED)
    return g.op("Cast", value, to_i=_INT32) if dtype is JitScalarType.BOOL else value


def _with_numbers(operator: str) -> Callable[..., Value]:
    def compare(g: Value, x: Value, y: Value) -> Value:
        x, y = _like(g, x, y), _like(g, y, x)
        x, y = (_as_number(g, value) for value in (x, y))
        return g.op(operator, x, y)

    return compare


def _like(g: Value, number: Value, other: Value) -> Value:
    """Give an integer of the program the dtype of a tensor of which none is known."""
    unknown = JitScalarType.from_value(other, JitScalarType.UNDEFINED) is JitScalarType.UNDEFINED
    whole = JitScalarType.from_value(number, JitScalarType.UNDEFINED) is JitScalarType.INT64
    if not unknown or not whole or number.node().kind() != "onnx::Constant":
        return number
    return g.op("CastLike", number, other)


COMPARISONS: Mapping[str, Callable[..., Value]] = {
    "aten::ge": _or_equal("Greater"),
    "aten::le": _or_equal("Less"),
}
"""Registered for opset 11, the first one whose Equal takes floats."""

LIKE_SINCE = 15
"""CastLike."""
WITH_NUMBERS: Mapping[str, Callable[..., Value]] = {
    "aten::gt": _with_numbers("Greater"),
    "aten::lt": _with_numbers("Less"),
    "aten::ge": _with_numbers("GreaterOrEqual"),
    "aten::le": _with_numbers("LessOrEqual"),
}
