"""Numbers that a trace or a script computes from sizes and numbers, in Python's double precision.

torch's TorchScript exporter writes them as float32, rounds their constants, and takes logarithms
of integers, which ONNX has not.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping
from enum import Enum
from types import MappingProxyType

import numpy as np
import onnx_ir as ir
from numpy.typing import NDArray
from onnx_ir.passes.common import RemoveUnusedNodesPass

from modelexport_exporter.convert.script_loops import carried_values
from modelexport_exporter.convert.script_numbers import CASTS

_SHAPES = frozenset({"Shape", "Size"})
_FUNCTIONS = frozenset(
    {"Acos", "Acosh", "Asin", "Asinh", "Atan", "Atanh", "Cos", "Cosh", "Erf", "Exp", "Log"}
    | {"Reciprocal", "Sin", "Sinh", "Sqrt", "Tan", "Tanh"}
)
"""What returns no integer, whatever it takes."""
_ARITHMETIC = _FUNCTIONS | {"Abs", "Add", "Ceil", "Div", "Floor", "Identity", "Max", "Min", "Mod"}
_ARITHMETIC |= {"Mul", "Neg", "Pow", "Round", "Sign", "Sub", "Where"}
_OF_DOUBLE = ir.TensorType(ir.DataType.DOUBLE)
_COMPARISONS = frozenset({"Equal", "Greater", "GreaterOrEqual", "Less", "LessOrEqual"})
_ON_INTEGERS = frozenset(
    {"And", "Concat", "Gather", "Not", "Or", "Reshape", "Slice", "Squeeze", "Unsqueeze", "Xor"}
)
"""What selects or combines sizes without computing."""
_OF_FIRST = frozenset({"Gather", "Reshape", "Slice", "Squeeze", "Unsqueeze"})
"""Of these, what returns elements of its first input."""
_NAMED = {
    float(np.float32(number)): number
    for value in (math.pi, math.tau, math.e, math.log(2), math.log(10), math.sqrt(2))
    for number in (value, -value, 1 / value)
}
"""Constants of Python's math, and of torch's formulas of logarithms."""


def compute_script_sizes_in_double(
    model: ir.Model, literals: Mapping[float, float] = MappingProxyType({})
) -> ir.Model:
    """Return the model, its arithmetic on sizes in float64 and cast where a tensor meets it.

    `literals`: numbers of the program by their float32.
    """
    _Widening(literals).run(model.graph)
    RemoveUnusedNodesPass()(model)  # constants that were float32: onnxruntime warns of each
    return model


def likely_double(number: np.float32) -> float:
    """Return the double that a program has for the float32: of 0.58f, 0.58; of 3.1415927f, pi.

    Else the one with the fewest decimal digits that rounds to it.
    """
    return _NAMED.get(float(number), float(str(number)))


class _Widening:
    def __init__(self, literals: Mapping[float, float]) -> None:
        self._literals = literals
        self._integers: set[ir.Value] = set()
        """What depends on sizes and constants alone, and is an integer or a boolean."""
        self._wide: dict[ir.Value, bool] = {}
        """What depends on them and on number inputs alone, as float64: whether it was float32."""
        self._carried: dict[ir.Value, ir.Value] = {}
        """Outputs of loops by what makes them in each round."""

    def run(self, graph: ir.Graph) -> None:
        self._wide.update(dict.fromkeys(_number_inputs(graph), False))
        for node in list(ir.traversal.RecursiveGraphIterator(graph)):
            if node.op_type == "Loop":
                self._enter(node)
            elif node.op_type == "If":
                self._enter_branch(node)
            if node.op_type in _SHAPES:
                self._integers.update(node.outputs)
            elif _is_marked_number(node):
                self._mark(node, was_single=True)
            elif any(value in self._integers or value in self._wide for value in node.inputs):
                self._visit(node)

    def _enter(self, loop: ir.Node) -> None:
        """Let a loop carry as float64 what begins as such a number of Python."""
        for carried in carried_values(loop):
            made = carried.first.producer()
            if made is not None and _is_marked_number(made):
                carried.entered.type = ir.TensorType(ir.DataType.DOUBLE)
                self._wide[carried.entered] = True
            if carried.entered.dtype is ir.DataType.DOUBLE:
                self._carried[carried.left] = carried.last

    def _enter_branch(self, branch: ir.Node) -> None:
        """Let both sides return as float64 what Python computed on one of them."""
        graphs = _sides(branch)
        for place, output in enumerate(branch.outputs):
            if _leaves(output) not in ({_Leaf.MARKED}, {_Leaf.MARKED, _Leaf.CONSTANT}):
                continue
            sides = [graph.outputs[place] for graph in graphs]
            fixed = map(_constant_of, sides)
            for graph, side, number in zip(graphs, sides, fixed, strict=True):
                returned = side
                if number is not None:
                    wide = ir.tensor(_as_double(number, self._literals))
                    made = ir.node("Constant", [], {"value": wide})
                    (returned,) = made.outputs
                    returned.name, returned.type = f"{side.name}_wide", _OF_DOUBLE
                    graph.append(made)
                    graph.outputs[place] = returned
                    self._wide[returned] = True
                self._carried[returned] = output
            output.type = _OF_DOUBLE
            self._wide[output] = True

    def _visit(self, node: ir.Node) -> None:
        alone = all(self._is_known(value) for value in node.inputs if value is not None)
        returned = node.op_type not in _COMPARISONS and any(
            value.is_graph_output() and value not in self._carried for value in node.outputs
        )
        floats = node.op_type in _FUNCTIONS or any(_is_float(v, self._wide) for v in node.inputs)
        if node.op_type == "Loop":
            wide = (carried for carried in carried_values(node) if carried.entered in self._wide)
            self._narrow_inputs(node, {carried.first for carried in wide})
        elif not alone or returned:
            self._narrow_inputs(node)
        elif node.op_type == "Cast":
            self._visit_cast(node)
        elif not floats and node.op_type in _ARITHMETIC | _COMPARISONS | _ON_INTEGERS:
            self._integers.update(node.outputs)
        elif node.op_type in _ARITHMETIC:
            was_single = any(self._wide.get(v) or _is_single(v) for v in node.inputs if v)
            self._widen_inputs(node)
            self._mark(node, was_single or not any(v in self._wide for v in node.inputs))
        elif node.op_type in _COMPARISONS:
            self._widen_inputs(node)
            self._integers.update(node.outputs)
        elif node.op_type == "Concat" or self._moves_wide(node):
            # int() leaves no trace in the graph: the cast of a list of sizes follows here.
            was_single = any(self._wide.get(v) for v in node.inputs if v)
            if node.op_type == "Concat":
                self._widen_inputs(node)
            self._mark(node, was_single)
        else:
            self._narrow_inputs(node)

    def _visit_cast(self, node: ir.Node) -> None:
        wanted = ir.DataType(node.attributes["to"].as_int())
        if wanted in {ir.DataType.FLOAT, ir.DataType.DOUBLE}:
            node.attributes["to"] = ir.AttrInt64("to", ir.DataType.DOUBLE)
            self._mark(node, wanted is ir.DataType.FLOAT)
        elif wanted in {ir.DataType.INT64, ir.DataType.BOOL}:
            self._integers.update(node.outputs)

    def _moves_wide(self, node: ir.Node) -> bool:
        return node.op_type in _OF_FIRST and node.inputs[0] in self._wide

    def _is_known(self, value: ir.Value) -> bool:
        constant = ir.convenience.get_const_tensor(value)
        return value in self._integers or value in self._wide or constant is not None

    def _mark(self, node: ir.Node, was_single: bool) -> None:
        carried = [self._carried[value] for value in node.outputs if value in self._carried]
        for value in (*node.outputs, *carried):
            value.type = ir.TensorType(ir.DataType.DOUBLE)
            self._wide[value] = was_single

    def _widen_inputs(self, node: ir.Node) -> None:
        for place, value in enumerate(node.inputs):
            if value is None or value in self._wide:
                continue
            if node.op_type == "Where" and place == 0:
                continue  # the condition
            constant = ir.convenience.get_const_tensor(value)
            if constant is None:
                made = ir.node("Cast", [value], {"to": ir.DataType.DOUBLE})
            elif constant.dtype is ir.DataType.DOUBLE:
                continue
            else:
                wide = _as_double(constant, self._literals)
                made = ir.node("Constant", [], {"value": ir.tensor(wide)})
            _insert(node, place, made, ir.DataType.DOUBLE)

    def _narrow_inputs(self, node: ir.Node, kept: Collection[ir.Value] = ()) -> None:
        """Give a node that takes tensors as well the float32 that it was written for."""
        for place, value in enumerate(node.inputs):
            if value is not None and self._wide.get(value) and value not in kept:
                cast = ir.node("Cast", [value], {"to": ir.DataType.FLOAT})
                _insert(node, place, cast, ir.DataType.FLOAT)


def _constant_of(value: ir.Value) -> ir.TensorProtocol | None:
    """Return the number that a side of a branch returns; None if it computes it."""
    made = value.producer()
    if made is not None and made.op_type == "Identity" and made.inputs[0] is not None:
        return _constant_of(made.inputs[0])
    return ir.convenience.get_const_tensor(value)


class _Leaf(Enum):
    """What a number follows from."""

    CONSTANT = 0
    MARKED = 1
    OTHER = 2


def _leaves(value: ir.Value | None) -> set[_Leaf]:
    """Return what a value follows from by arithmetic, and by branches."""
    made = value.producer() if value is not None else None
    constant = _constant_of(value) if value is not None else None
    if constant is not None:
        return {_Leaf.OTHER if len(constant.shape) else _Leaf.CONSTANT}
    if made is None:
        return {_Leaf.OTHER}
    if _is_marked_number(made):
        return {_Leaf.MARKED}
    if made.op_type == "If" and value is not None:
        place = list(made.outputs).index(value)
        return set().union(*(_leaves(graph.outputs[place]) for graph in _sides(made)))
    if made.op_type in _ARITHMETIC | {"Cast"}:
        return set().union(*map(_leaves, made.inputs))
    return {_Leaf.OTHER}


def _sides(branch: ir.Node) -> list[ir.Graph]:
    return [branch.attributes[name].as_graph() for name in ("then_branch", "else_branch")]


def _is_marked_number(node: ir.Node) -> bool:
    """Return whether a node is the last of the casts that mark a number (`script_numbers`)."""
    casts = 0
    cast: ir.Node | None = node
    while cast is not None and _casts_to_double(cast):
        casts += 1
        given = cast.inputs[0]
        cast = given.producer() if given is not None else None
    return casts >= CASTS


def _casts_to_double(node: ir.Node) -> bool:
    return node.op_type == "Cast" and node.attributes["to"].as_int() == ir.DataType.DOUBLE


def _number_inputs(graph: ir.Graph) -> Iterator[ir.Value]:
    """Yield the floats that forward takes, as doubles: inputs without dims, or what widens them."""
    for entered in graph.inputs:
        if entered.shape is None or len(entered.shape):
            continue
        if entered.dtype is ir.DataType.DOUBLE:
            yield entered
        for node in entered.consumers():
            if node.op_type == "Cast" and node.outputs[0].dtype is ir.DataType.DOUBLE:
                yield node.outputs[0]


def _as_double(constant: ir.TensorProtocol, literals: Mapping[float, float]) -> NDArray[np.float64]:
    values = constant.numpy()
    if constant.dtype is not ir.DataType.FLOAT:
        return values.astype(np.float64)
    numbers = [literals.get(float(number), likely_double(number)) for number in values.flat]
    return np.array(numbers).reshape(values.shape)


def _is_float(value: ir.Value | None, wide: dict[ir.Value, bool]) -> bool:
    return value is not None and (value in wide or _is_single(value))


def _is_single(value: ir.Value) -> bool:
    constant = ir.convenience.get_const_tensor(value)
    return constant is not None and constant.dtype is ir.DataType.FLOAT


def _insert(node: ir.Node, place: int, made: ir.Node, dtype: ir.DataType) -> None:
    """Make an input of a node, under a name that no other graph of the model has."""
    assert node.graph is not None
    (value,) = made.outputs
    value.name = f"{node.outputs[0].name}_input_{place}"
    value.type = ir.TensorType(dtype)
    node.graph.insert_before(node, made)
    node.replace_input_with(place, value)
