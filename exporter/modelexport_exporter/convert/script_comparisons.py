"""Symbolic functions of `>=` and `<=` for opset 11: torch writes them as the negation of `<`.

NaN is neither smaller nor larger, so that `x >= 0` held for NaN. Opset 12 has operators of its own.
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


COMPARISONS: Mapping[str, Callable[..., Value]] = {
    "aten::ge": _or_equal("Greater"),
    "aten::le": _or_equal("Less"),
}
"""Registered for opset 11, the first one whose Equal takes floats."""
