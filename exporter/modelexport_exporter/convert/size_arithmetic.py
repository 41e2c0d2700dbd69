"""Numbers that a program computes from sizes, as Python computes them.

In double precision: torch.onnx writes them as float32, and `int(n * 0.58)` is then off by one at
n = 50, where the product in double is 28.999999999999996. Quotients are rounded down: ONNX's Div
rounds integers towards zero, and `-(-n // 7)` is then one window short.
"""

from __future__ import annotations

import operator
from collections.abc import Mapping

import numpy as np
import onnx_ir as ir
import torch
from torch.export import ExportedProgram

from modelexport_exporter.torch_internals.symbolic_sizes import may_be_negative

_UNARY = frozenset({"Floor", "Ceil", "Round", "Sqrt", "Neg", "Abs", "Identity", "Squeeze"})
"""Operators that a translation may add to a number before it becomes an integer again."""
_COMPARISONS = frozenset({"Equal", "Less", "LessOrEqual", "Greater", "GreaterOrEqual"})


def compute_sizes_in_double(model: ir.Model, program: ExportedProgram) -> ir.Model:
    """Return the model, its arithmetic on sizes in float64 and cast where a tensor meets it."""
    numbers = {
        node.name: node
        for node in program.graph.nodes
        if node.op == "call_function" and isinstance(node.meta.get("val"), torch.SymFloat)
    }
    if numbers:
        _Widening(model.graph, numbers).run()
    return model


def round_quotients_down(model: ir.Model, program: ExportedProgram) -> ir.Model:
    """Return the model, the quotients of sizes that may be negative rounded as Python does."""
    names = {
        node.name
        for node in program.graph.nodes
        if node.target is operator.floordiv and any(map(_may_be_negative, node.args))
    }
    for node in list(model.graph):
        if node.op_type == "Div" and node.outputs[0].name in names:
            # Mod follows the sign of the divisor, so that what is divided is a multiple of it.
            rest = ir.node("Mod", list(node.inputs))
            multiple = ir.node("Sub", [node.inputs[0], rest.outputs[0]])
            for made in (rest, multiple):
                made.outputs[0].type = ir.TensorType(ir.DataType.INT64)
            model.graph.insert_before(node, [rest, multiple])
            node.replace_input_with(0, multiple.outputs[0])
    return model


def _may_be_negative(operand: object) -> bool:
    """Return whether an operand, a node of the program or a number, may be below zero."""
    value = operand.meta.get("val") if isinstance(operand, torch.fx.Node) else operand
    return not isinstance(value, int | torch.SymInt) or may_be_negative(value)


class _Widening:
    def __init__(self, graph: ir.Graph, numbers: Mapping[str, torch.fx.Node]) -> None:
        self._graph = graph
        self._numbers = numbers
        self._wide: set[ir.Value] = set()

    def run(self) -> None:
        for node in list(self._graph):
            named = next((out.name for out in node.outputs if out.name in self._numbers), None)
            if named is not None:
                self._widen(node, [a for a in self._numbers[named].args if isinstance(a, float)])
            elif node.op_type in _COMPARISONS and self._takes_wide(node):
                self._widen_inputs(node, ())
            elif node.op_type in _UNARY and self._takes_wide(node):
                self._mark(node)
            elif node.op_type != "Cast" and self._takes_wide(node):
                self._narrow_inputs(node)

    def _takes_wide(self, node: ir.Node) -> bool:
        return any(value in self._wide for value in node.inputs if value is not None)

    def _widen(self, node: ir.Node, exact: list[float]) -> None:
        if node.op_type == "Cast":
            node.attributes["to"] = ir.AttrInt64("to", ir.DataType.DOUBLE)
        else:
            self._widen_inputs(node, exact)
        self._mark(node)

    def _mark(self, node: ir.Node) -> None:
        for value in node.outputs:
            value.type = ir.TensorType(ir.DataType.DOUBLE)
            self._wide.add(value)

    def _widen_inputs(self, node: ir.Node, exact: list[float] | tuple[()]) -> None:
        for place, value in enumerate(node.inputs):
            if value is None or value in self._wide:
                continue
            producer = value.producer()
            if producer is not None and _casts_to_float(producer) and len(value.uses()) == 1:
                producer.attributes["to"] = ir.AttrInt64("to", ir.DataType.DOUBLE)
                self._mark(producer)
            else:
                node.replace_input_with(place, self._as_double(node, value, exact))

    def _as_double(
        self, node: ir.Node, value: ir.Value, exact: list[float] | tuple[()]
    ) -> ir.Value:
        constant = ir.convenience.get_const_tensor(value)
        if constant is not None and constant.dtype is ir.DataType.FLOAT and constant.size == 1:
            given = float(constant.numpy().reshape(-1)[0])
            number = next((own for own in exact if np.float32(own) == np.float32(given)), given)
            tensor = ir.tensor(np.array(number, np.float64).reshape(constant.shape.numpy()))
            made = ir.node("Constant", [], {"value": tensor})
        elif constant is not None and constant.dtype is not ir.DataType.FLOAT:
            return value
        else:
            made = ir.node("Cast", [value], {"to": ir.DataType.DOUBLE})
        return self._insert(node, made, ir.DataType.DOUBLE)

    def _narrow_inputs(self, node: ir.Node) -> None:
        """Cast what the node takes to the type of its other floats."""
        others = [v.dtype for v in node.inputs if v is not None and v not in self._wide and v.dtype]
        others += [v.dtype for v in node.outputs if v.dtype]
        floats = (dtype for dtype in others if dtype.is_floating_point())
        wanted = next(floats, ir.DataType.FLOAT)
        if wanted is ir.DataType.DOUBLE:
            return
        for place, value in enumerate(node.inputs):
            if value in self._wide:
                cast = ir.node("Cast", [value], {"to": wanted})
                node.replace_input_with(place, self._insert(node, cast, wanted))

    def _insert(self, node: ir.Node, made: ir.Node, dtype: ir.DataType) -> ir.Value:
        self._graph.insert_before(node, made)
        made.outputs[0].type = ir.TensorType(dtype)
        return made.outputs[0]


def _casts_to_float(node: ir.Node) -> bool:
    return node.op_type == "Cast" and node.attributes["to"].as_int() == ir.DataType.FLOAT
