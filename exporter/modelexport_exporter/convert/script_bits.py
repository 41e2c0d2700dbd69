"""Symbolic functions of `|`, `^` and `~` of integers, which torch has for booleans only.

ONNX has the operators from opset 18 on; torch uses it for `&`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

from modelexport_exporter.torch_internals.symbolics import (
    JitScalarType,
    cast_to,
    promoted_type,
    rank_of,
)

Value: TypeAlias = Any
"""torch._C.Value and torch's GraphContext, which are untyped."""

SINCE = 18


def _of_two(of_booleans: str, of_integers: str) -> Callable[..., Value]:
    def write(g: Value, x: Value, y: Value) -> Value:
        # A number has the dtype of the tensor that it meets.
        tensors = [value for value in (x, y) if rank_of(value)] or [x, y]
        dtype = promoted_type(*tensors)
        x, y = (cast_to(g, value, dtype) for value in (x, y))
        return g.op(of_booleans if dtype is JitScalarType.BOOL else of_integers, x, y)

    return write


def _not(g: Value, x: Value) -> Value:
    return g.op("Not" if promoted_type(x) is JitScalarType.BOOL else "BitwiseNot", x)


BITS: dict[str, Callable[..., Any]] = {
    **dict.fromkeys(("aten::bitwise_or", "aten::__or_"), _of_two("Or", "BitwiseOr")),
    **dict.fromkeys(("aten::bitwise_xor", "aten::__xor_"), _of_two("Xor", "BitwiseXor")),
    "aten::bitwise_not": _not,
}
