"""Constants of float64 graphs in float64, wherever torch.onnx's translations write them as float32.

A translation computes log(10) in float32 and casts it, or casts a float32 constant: the result is
off by 1e-8. This pass computes what is cast to double in double. A constant that is a rounded
number of the program, a mathematical constant or a short decimal gets the number itself back.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator

import numpy as np
import onnx_ir as ir
import torch
from torch.export import ExportedProgram

from modelexport_exporter.torch_internals.pytree import tree_leaves

MOST_NUMBERS = 64
"""Longer constants are tables, not numbers of a translation."""
_FLOAT, _DOUBLE = ir.DataType.FLOAT, ir.DataType.DOUBLE
_ARITHMETIC = frozenset(
    {"Log", "Exp", "Sqrt", "Neg", "Reciprocal", "Add", "Sub", "Mul", "Div", "Pow", "Range"}
)
_SHAPING = frozenset({"Expand", "Reshape", "Squeeze", "Unsqueeze", "Identity"})
"""Of these the first input is a number, the others are shapes."""
MATHEMATICAL = tuple(
    sign * number
    for number in (
        math.pi,
        math.pi / 2,
        2 * math.pi,
        math.pi / 180,
        180 / math.pi,
        1 / math.pi,
        math.e,
        math.log(2),
        math.log(10),
        1 / math.log(2),
        1 / math.log(10),
        math.sqrt(2),
        math.sqrt(0.5),
        math.sqrt(2 / math.pi),
        2 / math.sqrt(math.pi),
        math.log(math.sqrt(2 * math.pi)),
        1 / 3,
    )
    for sign in (1, -1)
)


def keep_constants_double(model: ir.Model, program: ExportedProgram) -> ir.Model:
    """Return the model, what it casts to float64 computed in float64 where it is constant."""
    widening = _Widening(model.graph, _numbers(program), _single_values(program))
    for node in list(model.graph):
        if _becomes_double(node):
            widening.replace_source(node)
    return model


def _becomes_double(node: ir.Node) -> bool:
    if node.op_type == "Cast":
        return node.attributes["to"].as_int() == _DOUBLE
    like = node.inputs[1] if node.op_type == "CastLike" else None
    return like is not None and (like.dtype or _inferred(like)) is _DOUBLE


def _inferred(value: ir.Value) -> ir.DataType | None:
    """Return the dtype of a value inside a translation, which torch.onnx does not note."""
    producer = value.producer()
    for given in producer.inputs[:1] if producer is not None else ():
        if given is not None:
            return given.dtype
    return None


def exact_number(single: float, known: Iterable[float]) -> float:
    """Return the number that float32 rounded to `single`: a known one, or the shortest decimal."""
    rounded = np.float32(single)
    if not math.isfinite(single):
        return single
    for number in (*known, *MATHEMATICAL):
        if np.float32(number) == rounded:
            return number
    return float(str(rounded))


def _numbers(program: ExportedProgram) -> tuple[float, ...]:
    """Return the Python floats that the program calls operators with."""
    found: dict[float, None] = {}
    for node in program.graph.nodes:
        leaves = tree_leaves((node.args, node.kwargs))
        found |= {leaf: None for leaf in leaves if isinstance(leaf, float)}
    return tuple(number for number in found if math.isfinite(number))


def _single_values(program: ExportedProgram) -> frozenset[str]:
    """Return the values of the program that are float32 in eager, too."""
    return frozenset(
        node.name
        for node in program.graph.nodes
        if isinstance(value := node.meta.get("val"), torch.Tensor) and value.dtype is torch.float32
    )


class _Widening:
    def __init__(self, graph: ir.Graph, known: tuple[float, ...], single: frozenset[str]) -> None:
        self._graph = graph
        self._known = known
        self._single = single

    def replace_source(self, node: ir.Node) -> None:
        """Give the cast a source in float64, if its source is constant arithmetic in float32."""
        source = node.inputs[0]
        if source is not None and (wide := self._widened(source, node)) is not None:
            node.replace_input_with(0, wide)

    def _widened(self, value: ir.Value, before: ir.Node) -> ir.Value | None:
        """Return the same number in float64, computed before the node; None if it varies."""
        node = value.producer()
        if node is None or value.name in self._single:
            return None
        if node.op_type == "Constant":
            return self._constant(node, before)
        if node.op_type == "Cast":
            return self._uncast(node, before)
        if node.op_type not in _ARITHMETIC | _SHAPING:
            return None
        count = 1 if node.op_type in _SHAPING else len(node.inputs)
        inputs = list(self._widened_inputs(node.inputs[:count], before))
        if any(given is None for given in inputs):
            return None
        made = ir.Node(
            node.domain,
            node.op_type,
            [*inputs, *node.inputs[count:]],
            list(node.attributes.values()),
        )
        return self._insert(made, before)

    def _widened_inputs(
        self, values: Iterable[ir.Value | None], before: ir.Node
    ) -> Iterator[ir.Value | None]:
        for value in values:
            yield None if value is None else self._widened(value, before)

    def _constant(self, node: ir.Node, before: ir.Node) -> ir.Value | None:
        values = _single_precision(node)
        if values is None:
            return None
        exact = [exact_number(float(one), self._known) for one in values.flat]
        tensor = ir.tensor(np.array(exact, np.float64).reshape(values.shape))
        return self._insert(ir.node("Constant", [], {"value": tensor}), before)

    def _uncast(self, node: ir.Node, before: ir.Node) -> ir.Value | None:
        """Return what a Cast to float32 takes, in float64, if that is a number of the graph."""
        source = node.inputs[0]
        if source is None or node.attributes["to"].as_int() != _FLOAT:
            return None
        producer = source.producer()
        constant = producer is not None and producer.op_type == "Constant"
        if not constant and source.dtype is not ir.DataType.INT64:
            return None
        return self._insert(ir.node("Cast", [source], {"to": _DOUBLE}), before)

    def _insert(self, made: ir.Node, before: ir.Node) -> ir.Value:
        self._graph.insert_before(before, made)
        made.outputs[0].type = ir.TensorType(_DOUBLE)
        return made.outputs[0]


def _single_precision(node: ir.Node) -> np.ndarray | None:
    """Return the numbers of a float32 Constant; None for any other."""
    if "value_float" in node.attributes:
        return np.array(node.attributes["value_float"].as_float())
    if "value_floats" in node.attributes:
        return np.array(node.attributes["value_floats"].as_floats())
    attribute = node.attributes.get("value")
    tensor = attribute.as_tensor() if attribute is not None else None
    if tensor is None or tensor.dtype is not _FLOAT or tensor.size > MOST_NUMBERS:
        return None
    return tensor.numpy()
