"""Decisions of a script on Python numbers, in the double precision that Python computes in.

torch's exporter makes tensors of the numbers, and float32 of what meets a float: 100,000,001 cents
are 1,000,000.0 then, and not more than a million. Numbers that end in a comparison, or as an
integer, are marked as float64 in the graph that torch.jit.script returns, and `script_sizes`
computes with them. One that meets a tensor is computed in float64, too, and then has its dtype:
`x >= 0.3 * a + 0.7 * a` holds for an x of float32 that is a.

Python's integers have no end. Products of values that a script reads are saturated where int64
would wrap, so that a comparison with a number below 2^63 decides as Python does.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any, TypeAlias

import numpy as np
import torch

from modelexport_exporter.convert.python_numbers import (
    FLOAT,
    PythonNumbers,
    is_number,
)
from modelexport_exporter.torch_internals.torchscript_graph import nodes_of

Node: TypeAlias = Any
Value: TypeAlias = Any
Graph: TypeAlias = Any
"""torch._C's, which are untyped."""

_COMPARISONS = frozenset({"aten::lt", "aten::le", "aten::gt", "aten::ge", "aten::eq", "aten::ne"})
_INT = "aten::Int"
_READ_AS = {"FloatType": "f", "IntType": "i"}
"""How a constant of a type is read."""
_READS = frozenset({_INT, "aten::IntImplicit"})
_OF_INTEGERS = frozenset({"aten::add", "aten::sub", "aten::mul", "aten::neg"})
_LARGEST = 2**63 - 1
_ELEMENTWISE = frozenset({"aten::add", "aten::sub", "aten::mul", "aten::div"})
_TO_INTEGERS = frozenset({_INT, "aten::floor", "aten::ceil"})
_MAY_BE_FLOAT = frozenset({"FloatType", "NumberType", "TensorType"})
_CONSTANT = "prim::Constant"
CASTS = 2
"""Casts to float64 of a number: `script_sizes` finds them in the file, where the exporter has made
float32 of all numbers again."""
_INT64, _DOUBLE = 4, 7
"""torch's numbers of dtypes in a graph."""


def compute_decisions_in_double(graph: Graph, floats: Collection[str] = ()) -> None:
    """Change a graph without calls in place. `floats`: its inputs of floating-point dtypes."""
    _Widening(graph, frozenset(floats)).run()


def literals_of(graph: Graph) -> dict[float, float]:
    """Return the numbers that a script names, by the float32 that the exporter makes of each.

    Without those that have a float32 in common.
    """
    found: dict[float, set[float]] = {}
    for node in nodes_of(graph):
        kind = node.output().type().kind() if node.kind() == _CONSTANT else ""
        if kind in _READ_AS:
            number = float(getattr(node, _READ_AS[kind])("value"))
            found.setdefault(float(np.float32(number)), set()).add(number)
    return {single: numbers.pop() for single, numbers in found.items() if len(numbers) == 1}


class _Widening:
    def __init__(self, graph: Graph, floats: frozenset[str]) -> None:
        self._graph = graph
        self._numbers = PythonNumbers(floats)
        self._wide: set[int] = set()
        """Values that are computed in float64, by their numbers in the graph."""

    def run(self) -> None:
        nodes = list(nodes_of(self._graph))
        arithmetic = [node for node in nodes if self._is_wide(node)]
        comparisons = [node for node in nodes if self._compares_floats(node)]
        self._wide = {node.output().unique() for node in arithmetic}
        for node in (*arithmetic, *comparisons):
            self._widen_inputs(node)
        for node in nodes:
            if node.kind() == "prim::Loop":
                self._carry_double(node)
            elif node.kind() == "prim::If":
                self._choose_double(node)
            elif _meets_tensor(node):
                self._meet_tensor(node)
        products = [node for node in nodes if _may_overflow(node)]
        for node in products:
            self._saturate(node)
        for node in nodes:
            if node.kind() == _INT:
                self._write_int(node)

    def _is_wide(self, node: Node) -> bool:
        """Return whether a node computes a float that only decides."""
        return self._numbers.computes_float(node) and all(
            self._only_decides(use.user) for use in node.output().uses()
        )

    def _only_decides(self, user: Node) -> bool:
        if user.kind() in _COMPARISONS | _TO_INTEGERS:
            return all(map(is_number, user.inputs()))
        return self._is_wide(user)

    def _widen_inputs(self, node: Node) -> None:
        for place, value in enumerate(list(node.inputs())):
            if value.unique() not in self._wide:
                self._widen(node, place, value)

    def _carry_double(self, loop: Node) -> None:
        """Compute in float64 what a loop makes of a float that it carries from round to round.

        A script also calls a float what is a tensor after the first round: that keeps its dtype.
        """
        (body,) = loop.blocks()
        end = body.returnNode()
        for place, value in enumerate(list(end.inputs())):
            if place > 0 and self._numbers.is_computed(value):  # the first is the condition
                self._widen(end, place, value)
                self._widen(loop, place + 1, loop.inputsAt(place + 1))

    def _choose_double(self, branch: Node) -> None:
        """Return from both sides in float64 what Python computed on one of them."""
        for place, value in enumerate(branch.outputs()):
            if self._numbers.is_computed(value):
                for end in (block.returnNode() for block in branch.blocks()):
                    self._widen(end, place, end.inputsAt(place))

    def _meet_tensor(self, node: Node) -> None:
        """Let a node take in float64 what Python computed."""
        for place, value in enumerate(list(node.inputs())):
            if is_number(value) and self._numbers.is_computed(value):
                self._widen(node, place, value)

    def _widen(self, node: Node, place: int, value: Value) -> None:
        """Let a node take a number as float64; one that meets tensors as well is computed twice."""
        made = value.node()
        if self._numbers.computes_float(made):
            again = self._graph.createClone(made, lambda own: own)
            again.insertBefore(node)
            node.replaceInput(place, again.output())
            self._widen_inputs(again)
        elif made.kind() == FLOAT and is_number(made.inputsAt(0)):
            self._widen(node, place, made.inputsAt(0))
        else:
            self._graph.setInsertPoint(node)
            node.replaceInput(place, self._double(value))

    def _compares_floats(self, node: Node) -> bool:
        if node.kind() not in _COMPARISONS:
            return False
        inputs = list(node.inputs())
        return all(map(is_number, inputs)) and any(map(self._numbers.is_float, inputs))

    def _write_int(self, node: Node) -> None:
        """Write int() as a cast: the exporter leaves it out."""
        if self._numbers.is_float(node.inputsAt(0)):
            self._widen_inputs(node)
        value = node.inputsAt(0)
        if value.type().kind() not in _MAY_BE_FLOAT:
            return
        self._graph.setInsertPoint(node)
        number = self._cast(value, [_INT64])
        node.output().replaceAllUsesWith(
            self._node("aten::IntImplicit", [number], torch.IntType.get())
        )

    def _saturate(self, node: Node) -> None:
        """Replace a product that int64 does not hold by the end of int64 on its side."""
        # Written before the node, which nothing uses then: its users may be in several blocks.
        self._graph.setInsertPoint(node)
        wide = [self._double(value) for value in node.inputs()]
        tensor = torch.TensorType.get()
        double = self._node("aten::mul", wide, torch.FloatType.get())
        product = self._node("aten::mul", list(node.inputs()), torch.IntType.get())
        bounded = self._node("prim::NumToTensor", [product], tensor)
        for comparison, end in (("aten::ge", _LARGEST), ("aten::lt", -_LARGEST - 1)):
            limit = self._double(self._constant(end))
            beyond = self._node(comparison, [double, limit], torch.BoolType.get())
            beyond = self._node("prim::NumToTensor", [beyond], tensor)
            bounded = self._node(
                "aten::masked_fill", [bounded, beyond, self._constant(end)], tensor
            )
        number = self._node("aten::IntImplicit", [bounded], torch.IntType.get())
        node.output().replaceAllUsesWith(number)

    def _double(self, value: Value) -> Value:
        """Return the number as float64, marked by casts that do nothing; a constant as it is."""
        if value.node().kind() == _CONSTANT:
            return value
        wide = self._cast(value, [_DOUBLE] * CASTS)
        return self._node("aten::FloatImplicit", [wide], torch.FloatType.get())

    def _cast(self, value: Value, dtypes: Sequence[int]) -> Value:
        """Return the number as a tensor of the last of these dtypes."""
        false = self._constant(False)
        none = self._graph.insertNode(self._graph.create(_CONSTANT, [], 1)).output()
        none.setType(torch.NoneType.get())
        tensor = value
        if is_number(value):
            tensor = self._node("prim::NumToTensor", [value], torch.TensorType.get())
        for dtype in dtypes:
            inputs = [tensor, self._constant(dtype), false, false, none]
            tensor = self._node("aten::to", inputs, torch.TensorType.get())
        return tensor

    def _node(self, kind: str, inputs: list[Value], returned: Any) -> Value:  # noqa: ANN401
        node = self._graph.insertNode(self._graph.create(kind, inputs, 1))
        node.output().setType(returned)
        return node.output()

    def _constant(self, value: object) -> Value:
        return self._graph.insertConstant(value)


def _meets_tensor(node: Node) -> bool:
    """Return whether a node computes or compares a tensor and another value."""
    kinds = [value.type().kind() for value in node.inputs()]
    return node.kind() in _COMPARISONS | _ELEMENTWISE and "TensorType" in kinds


def _may_overflow(node: Node) -> bool:
    """Return whether a node multiplies integers of which a script reads one from a tensor."""
    if node.kind() != "aten::mul" or not node.output().uses():
        return False
    values = list(node.inputs())
    return all(map(_is_integer, values)) and any(map(_is_read, values))


def _is_integer(value: Value) -> bool:
    return bool(value.type().kind() == "IntType")


def _is_read(value: Value) -> bool:
    """Return whether an integer depends on what a script reads from a tensor."""
    node = value.node()
    if node.kind() in _READS:
        return True
    return node.kind() in _OF_INTEGERS and any(
        _is_read(operand) for operand in node.inputs() if _is_integer(operand)
    )
