"""Functions of sizes and integers that torch.export captures, and torch.onnx does not translate."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import onnx_ir as ir
import torch
from onnxscript.onnx_opset import opset18 as op


def _square_root(x: Any) -> Any:  # noqa: ANN401
    return op.Sqrt(x)


def _round(x: Any, digits: int | None = None) -> Any:  # noqa: ANN401
    if digits is not None:
        msg = "round() of a size takes no digits"
        raise NotImplementedError(msg)
    return op.Cast(op.Round(x), to=7)


def _bitwise(
    of_integers: Callable[..., Any], of_booleans: Callable[..., Any]
) -> Callable[..., Any]:
    def translate(x: Any, y: Any) -> Any:  # noqa: ANN401
        if any(value is True or value is False or _is_boolean(value) for value in (x, y)):
            return of_booleans(_constant(x), _constant(y))
        return of_integers(_constant(x), _constant(y))

    return translate


def _is_boolean(value: Any) -> bool:  # noqa: ANN401
    return getattr(value, "dtype", None) is ir.DataType.BOOL


def _constant(value: Any) -> Any:  # noqa: ANN401
    return op.Constant(value_int=value) if isinstance(value, int) else value


def _shift_left(x: Any, places: Any) -> Any:  # noqa: ANN401
    if isinstance(places, int):
        return op.Mul(_constant(x), _constant(2**places))
    return op.Mul(_constant(x), op.Pow(_constant(2), places))


def _shift_right(x: Any, places: Any) -> Any:  # noqa: ANN401
    # Mod follows the sign of the divisor, so that the quotient is rounded down.
    x, divisor = _constant(x), _constant(2 ** _known(places))
    return op.Div(op.Sub(x, op.Mod(x, divisor)), divisor)


def _known(places: Any) -> int:  # noqa: ANN401
    if isinstance(places, int):
        return places
    msg = "an integer is shifted by a number of places that is no constant"
    raise NotImplementedError(msg)


def _stride(x: Any, dim: int) -> Any:  # noqa: ANN401
    # torch asks in the body of a loop whether the state is contiguous, and uses no answer.
    return op.ReduceProd(op.Shape(x, start=dim + 1), keepdims=0)


TRANSLATIONS: dict[Any, Callable[..., Any]] = {
    torch._sym_sqrt: _square_root,  # type: ignore[attr-defined]  # noqa: SLF001
    round: _round,
    torch.ops.aten.sym_stride.int: _stride,
    operator.and_: _bitwise(op.BitwiseAnd, op.And),
    operator.or_: _bitwise(op.BitwiseOr, op.Or),
    operator.xor: _bitwise(op.BitwiseXor, op.Xor),
    operator.lshift: _shift_left,
    operator.rshift: _shift_right,
}
"""For torch.onnx's custom_translation_table."""
