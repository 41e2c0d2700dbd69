"""Evaluates the sizes that a file declares as text, such as `2*n` or `(n + 1)//2`: pure."""

from __future__ import annotations

import ast
import math
import operator
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

_BINARY: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Div: Fraction,
}
_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "Max": max,
    "Min": min,
    "max": max,
    "min": min,
    "Mod": operator.mod,
    "PythonMod": operator.mod,
    "FloorDiv": operator.floordiv,
    "CleanDiv": operator.floordiv,
    "floor": math.floor,
    "ceiling": math.ceil,
    "CeilToInt": math.ceil,
    "FloorToInt": math.floor,
    "Abs": abs,
}
"""How torch prints them in sizes."""
_LARGEST_POWER = 8


def evaluate(expression: str, sizes: Mapping[str, int]) -> int | None:
    """Return the size that the text stands for; None if it is no expression of these sizes."""
    if expression in sizes:
        return sizes[expression]
    try:
        value = _value(ast.parse(expression, mode="eval").body, sizes)
    except (_NoExpressionError, SyntaxError, ArithmeticError, TypeError, ValueError):
        return None
    return int(value) if value == int(value) else None


class _NoExpressionError(Exception):
    """The text has another meaning."""


def _value(node: ast.expr, sizes: Mapping[str, int]) -> Any:  # noqa: ANN401 - int or Fraction
    match node:
        case ast.Constant(value=int(number)):
            return number
        case ast.Name(id=name) if name in sizes:
            return sizes[name]
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return -_value(operand, sizes)
        case ast.BinOp(left=left, op=ast.Pow(), right=ast.Constant(value=int(power))):
            if 0 <= power <= _LARGEST_POWER:
                return _value(left, sizes) ** power
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _BINARY:
            return _BINARY[type(op)](_value(left, sizes), _value(right, sizes))
        case ast.Call(func=ast.Name(id=name), args=arguments) if name in _FUNCTIONS:
            return _FUNCTIONS[name](*(_value(argument, sizes) for argument in arguments))
    raise _NoExpressionError
