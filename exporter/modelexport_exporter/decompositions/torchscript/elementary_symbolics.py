"""Symbolic functions of elementary functions that ONNX has and the TorchScript exporter lacks.

Registered during a conversion, with lower priority than the user's; for scripts and traces.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from typing import Any, TypeAlias

import torch

from modelexport_exporter.decompositions.registry import enabled
from modelexport_exporter.torch_internals.symbolics import (
    JitScalarType,
    is_float,
    is_registered,
    register_symbolics,
)

Value: TypeAlias = Any
"""torch._C.Value and torch's GraphContext, which are untyped."""
_SINCE = 9
_FLOAT = 1
"""onnx.TensorProto's element type."""


@contextmanager
def elementary_symbolics(disabled: Collection[str], opset: int) -> Iterator[None]:
    """Register the functions that have no symbolic function yet."""
    added = {
        name: function
        for name, function in (_FUNCTIONS if opset >= _SINCE else {}).items()
        if enabled(name, disabled) and not is_registered(name, opset)
    }
    with register_symbolics(added, _SINCE):
        yield


def _as_float(g: Value, x: Value) -> Value:
    return x if is_float(x) else g.op("Cast", x, to_i=_FLOAT)


def _function(operator: str) -> Callable[..., Value]:
    def symbolic(g: Value, x: Value) -> Value:
        return g.op(operator, _as_float(g, x))

    return symbolic


def _number(g: Value, x: Value, number: float) -> Value:
    """Return the number in the dtype of x."""
    dtype = JitScalarType.from_value(x, JitScalarType.FLOAT).dtype()
    return g.op("Constant", value_t=torch.tensor(number, dtype=dtype))


def _erfc(g: Value, x: Value) -> Value:
    x = _as_float(g, x)
    return g.op("Sub", _number(g, x, 1.0), g.op("Erf", x))


def _exp2(g: Value, x: Value) -> Value:
    x = _as_float(g, x)
    return g.op("Pow", _number(g, x, 2.0), x)


def _trunc(g: Value, x: Value) -> Value:
    if not is_float(x):
        return x
    return g.op("Mul", g.op("Sign", x), g.op("Floor", g.op("Abs", x)))


_FUNCTIONS: dict[str, Callable[..., Value]] = {
    "aten::sinh": _function("Sinh"),
    "aten::cosh": _function("Cosh"),
    "aten::asinh": _function("Asinh"),
    "aten::acosh": _function("Acosh"),
    "aten::atanh": _function("Atanh"),
    "aten::erfc": _erfc,
    "aten::exp2": _exp2,
    "aten::trunc": _trunc,
}
