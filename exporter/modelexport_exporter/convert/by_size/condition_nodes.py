"""A condition on sizes as ONNX nodes: integers in int64, other numbers in float64, as in Python."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from functools import singledispatchmethod

import numpy as np
import onnx_ir as ir

from modelexport_exporter.convert.by_size.regions import Region

_COMPARED: dict[type[ast.cmpop], tuple[str, bool]] = {
    ast.Lt: ("Less", False),
    ast.LtE: ("LessOrEqual", False),
    ast.Gt: ("Greater", False),
    ast.GtE: ("GreaterOrEqual", False),
    ast.Eq: ("Equal", False),
    ast.NotEq: ("Equal", True),
}
"""The operator of a comparison, and whether its result is negated."""
_PLAIN: dict[type[ast.operator], str] = {ast.Add: "Add", ast.Sub: "Sub", ast.Mult: "Mul"}
_OF_FLOATS = {"sqrt": "Sqrt", "log": "Log", "exp": "Exp"}
_ROUNDED = {"floor": "Floor", "ceil": "Ceil", "trunc": "", "round": "Round", "int": ""}
"""What becomes an integer; a cast truncates."""
_LARGEST = {"max": "Max", "min": "Min"}

MOST_POWER = 4
"""Powers are products; sizes have no higher ones."""


class Unsupported(Exception):  # noqa: N818 - what it says, not what went wrong
    """A part of a condition that these nodes do not compute."""


class ConditionNodes:
    """Computes conditions from the shapes of a graph's inputs."""

    def __init__(self, places: Mapping[str, tuple[ir.Value, int]]) -> None:
        """Compute with the sizes of dims, each read from an axis of an input."""
        self._places = places
        self._sizes: dict[str, ir.Value] = {}
        self.nodes: list[ir.Node] = []
        """In the order in which they run."""

    def holds(self, region: Region) -> ir.Value:
        """Return a value, bool [], that is true inside a region. Raises Unsupported."""
        parts = [self._value(ast.parse(text, mode="eval").body) for text in region.conditions]
        return self._joined("And", parts)

    @singledispatchmethod
    def _value(self, node: ast.expr) -> ir.Value:
        """Return the value of an expression. Raises Unsupported."""
        raise Unsupported(ast.unparse(node))

    @_value.register
    def _(self, node: ast.Constant) -> ir.Value:
        value = node.value
        if not isinstance(value, bool | int | float):
            raise Unsupported(repr(value))
        return self._number(value)

    def _number(self, value: bool | float) -> ir.Value:
        dtype = {bool: np.bool_, int: np.int64}.get(type(value), np.float64)
        tensor = ir.tensor(np.array(value, dtype))
        return self._node("Constant", [], tensor.dtype, value=tensor)

    @_value.register
    def _(self, node: ast.Name) -> ir.Value:
        if node.id not in self._places:
            raise Unsupported(node.id)
        if node.id not in self._sizes:
            source, axis = self._places[node.id]
            shape = self._node("Shape", [source], ir.DataType.INT64, start=axis, end=axis + 1)
            self._sizes[node.id] = self._node("Squeeze", [shape], ir.DataType.INT64)
        return self._sizes[node.id]

    @_value.register
    def _(self, node: ast.UnaryOp) -> ir.Value:
        value = self._value(node.operand)
        if isinstance(node.op, ast.Not):
            return self._node("Not", [value], ir.DataType.BOOL)
        if isinstance(node.op, ast.USub):
            return self._node("Neg", [value], value.dtype)
        raise Unsupported(ast.unparse(node))

    @_value.register
    def _(self, node: ast.BinOp) -> ir.Value:
        left, right = self._value(node.left), self._value(node.right)
        kind = type(node.op)
        if kind in _PLAIN:
            return self._same(_PLAIN[kind], left, right)
        if kind is ast.Div:
            return self._same("Div", self._float(left), self._float(right))
        if kind is ast.Pow:
            return self._power(left, node.right)
        if kind not in {ast.FloorDiv, ast.Mod} or ir.DataType.DOUBLE in {left.dtype, right.dtype}:
            raise Unsupported(ast.unparse(node))
        # Mod has the sign of the divisor, as in Python; Div of integers truncates.
        rest = self._node("Mod", [left, right], ir.DataType.INT64)
        if kind is ast.Mod:
            return rest
        return self._same("Div", self._same("Sub", left, rest), right)

    def _power(self, base: ir.Value, exponent: ast.expr) -> ir.Value:
        times = exponent.value if isinstance(exponent, ast.Constant) else None
        if not (isinstance(times, int) and 0 < times <= MOST_POWER):
            raise Unsupported(f"a power of {ast.unparse(exponent)}")
        power = base
        for _ in range(times - 1):
            power = self._same("Mul", power, base)
        return power

    @_value.register
    def _(self, node: ast.Compare) -> ir.Value:
        values = [self._value(part) for part in (node.left, *node.comparators)]
        parts = []
        for kind, left, right in zip(node.ops, values, values[1:], strict=False):
            if type(kind) not in _COMPARED:
                raise Unsupported(ast.unparse(node))
            name, negated = _COMPARED[type(kind)]
            part = self._node(name, self._alike(left, right), ir.DataType.BOOL)
            parts.append(self._node("Not", [part], ir.DataType.BOOL) if negated else part)
        return self._joined("And", parts)

    @_value.register
    def _(self, node: ast.BoolOp) -> ir.Value:
        parts = [self._value(part) for part in node.values]
        return self._joined("And" if isinstance(node.op, ast.And) else "Or", parts)

    @_value.register
    def _(self, node: ast.IfExp) -> ir.Value:
        sides = self._alike(self._value(node.body), self._value(node.orelse))
        return self._node("Where", [self._value(node.test), *sides], sides[0].dtype)

    @_value.register
    def _(self, node: ast.Call) -> ir.Value:
        function = node.func
        name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
        values = [self._value(argument) for argument in node.args]
        if name in _LARGEST:
            largest = values[0]
            for value in values[1:]:
                largest = self._same(_LARGEST[name], largest, value)
            return largest
        if len(values) != 1:
            raise Unsupported(ast.unparse(node))
        if name == "abs":
            return self._node("Abs", values, values[0].dtype)
        if name in {"sym_float", "float"}:
            return self._float(values[0])
        if name in _OF_FLOATS:
            return self._node(_OF_FLOATS[name], [self._float(values[0])], ir.DataType.DOUBLE)
        if name not in _ROUNDED:
            raise Unsupported(ast.unparse(node))
        value = self._float(values[0])
        if _ROUNDED[name]:
            value = self._node(_ROUNDED[name], [value], ir.DataType.DOUBLE)
        return self._node("Cast", [value], ir.DataType.INT64, to=ir.DataType.INT64)

    def _joined(self, name: str, parts: Sequence[ir.Value]) -> ir.Value:
        if not parts:
            return self._number(value=True)
        joined = parts[0]
        for part in parts[1:]:
            joined = self._node(name, [joined, part], ir.DataType.BOOL)
        return joined

    def _same(self, name: str, left: ir.Value, right: ir.Value) -> ir.Value:
        """Return the result of an operator whose operands and result have one type."""
        operands = self._alike(left, right)
        return self._node(name, operands, operands[0].dtype)

    def _alike(self, left: ir.Value, right: ir.Value) -> list[ir.Value]:
        if left.dtype == right.dtype:
            return [left, right]
        return [self._float(left), self._float(right)]

    def _float(self, value: ir.Value) -> ir.Value:
        if value.dtype == ir.DataType.DOUBLE:
            return value
        return self._node("Cast", [value], ir.DataType.DOUBLE, to=ir.DataType.DOUBLE)

    def _node(
        self,
        name: str,
        operands: Sequence[ir.Value],
        dtype: ir.DataType | None,
        **attributes: int | ir.DataType | ir.TensorProtocol,
    ) -> ir.Value:
        node = ir.node(name, list(operands), attributes)
        result = node.outputs[0]
        assert dtype is not None
        result.dtype, result.shape = dtype, ir.Shape([1] if name == "Shape" else [])
        result.name = f"sizes_{len(self.nodes)}"
        self.nodes.append(node)
        return result
