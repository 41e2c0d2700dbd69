"""A small file that computes what another file decides on sizes alone.

Its inputs are the shapes of the other file's inputs, so that a run costs microseconds at any size.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from math import prod

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from modelexport_exporter.verification.seeking.side_probe import leave_out_unused
from modelexport_exporter.verification.seeking.value_conditions import bodies

SHAPE_OF = "modelexport_shape_of_"
COMPARING = frozenset({"Equal", "Greater", "GreaterOrEqual", "Less", "LessOrEqual"})
CHOOSING = frozenset({"Min", "Max", "Clip", "Relu", "Abs"})
"""Operators that return one of their inputs, or another number: whether they do is a decision."""
READING = frozenset({"Shape", "Size"})
_PASSING = frozenset({"Identity", "Cast"})
"""Operators whose result has the shape of their input."""
_LARGE = frozenset({"Range", "ConstantOfShape", "Expand", "Tile", "NonZero", "EyeLike", "OneHot"})
"""Operators whose result grows with a size: masks and positions, which differ at each size."""
MOST_DECISIONS = 64
MOST_ELEMENTS = 64
"""Of a constant that sizes are compared with."""


def may_decide_on_sizes(operators: Collection[str]) -> bool:
    """Return whether a file with these operators may compare sizes."""
    return not READING.isdisjoint(operators) and not (COMPARING | CHOOSING).isdisjoint(operators)


def size_probe_of(model: onnx.ModelProto) -> onnx.ModelProto | None:
    """Return a file with an output for each decision on sizes alone; None if there is none.

    An input is the shape of an input of the model, as int64, by its name after SHAPE_OF.
    """
    found = _Sized(model.graph)
    decisions = found.decisions[:MOST_DECISIONS]
    if not decisions:
        return None
    outputs = [helper.make_tensor_value_info(name, TensorProto.BOOL, None) for name in decisions]
    small = [entry for entry in model.graph.initializer if _is_small(entry)]
    graph = helper.make_graph(found.nodes, "sizes", [], outputs, small)
    leave_out_unused(graph)
    used = {name for node in graph.node for name in node.input}
    graph.input.extend(
        helper.make_tensor_value_info(SHAPE_OF + name, TensorProto.INT64, [rank])
        for name, rank in found.ranks.items()
        if SHAPE_OF + name in used
    )
    return helper.make_model(graph, opset_imports=model.opset_import, ir_version=model.ir_version)


class _Sized:
    """The nodes of a graph that compute with sizes and small constants only."""

    def __init__(self, graph: onnx.GraphProto) -> None:
        constants = {entry.name for entry in graph.initializer}
        self.ranks = {
            entry.name: len(entry.type.tensor_type.shape.dim)
            for entry in graph.input
            if entry.name not in constants and entry.type.tensor_type.HasField("shape")
        }
        self.nodes: list[onnx.NodeProto] = []
        self.decisions: list[str] = []
        self._of_input = {name: name for name in self.ranks}
        """The input whose shape a value has."""
        self._constant = {entry.name for entry in graph.initializer if _is_small(entry)}
        self._sized: set[str] = set()
        for node in graph.node:
            self._visit(node)

    def _visit(self, node: onnx.NodeProto) -> None:
        source = self._of_input.get(node.input[0]) if node.input else None
        if node.op_type in _PASSING and source is not None:
            self._of_input[node.output[0]] = source
        if node.op_type in READING and source is not None:
            self.nodes += _reading(node, source, self.ranks[source])
            self._sized.add(node.output[0])
        elif self._computes_with_sizes(node):
            self.nodes.append(node)
            is_sized = not self._sized.isdisjoint(node.input)
            (self._sized if is_sized else self._constant).update(node.output)
            if is_sized:
                self._decide(node)

    def _computes_with_sizes(self, node: onnx.NodeProto) -> bool:
        if node.op_type in _LARGE or node.domain not in {"", "ai.onnx"} or any(bodies(node)):
            return False
        if node.op_type == "Constant":
            return all(_is_small(entry.t) for entry in node.attribute if entry.type == entry.TENSOR)
        known = self._sized | self._constant
        return bool(node.input) and all(name in known for name in node.input if name)

    def _decide(self, node: onnx.NodeProto) -> None:
        if node.op_type in COMPARING:
            self.decisions.append(node.output[0])
        elif node.op_type in CHOOSING:
            chosen = f"{node.output[0]}_modelexport_is_first"
            self.nodes.append(helper.make_node("Equal", [node.output[0], node.input[0]], [chosen]))
            self.decisions.append(chosen)


def _reading(node: onnx.NodeProto, source: str, rank: int) -> Iterable[onnx.NodeProto]:
    """Return nodes that read from the shape what the node reads from the input."""
    shape, output = SHAPE_OF + source, node.output[0]
    if node.op_type == "Size":
        return [helper.make_node("ReduceProd", [shape], [output], keepdims=0)]
    ends: Mapping[str, int] = {entry.name: entry.i for entry in node.attribute}
    places = np.arange(rank)[ends.get("start", 0) : ends.get("end", rank)]
    chosen = f"{output}_modelexport_places"
    constant = helper.make_node("Constant", [], [chosen], value=numpy_helper.from_array(places))
    return [constant, helper.make_node("Gather", [shape, chosen], [output])]


def _is_small(tensor: onnx.TensorProto) -> bool:
    return tensor.data_location != TensorProto.EXTERNAL and prod(tensor.dims) <= MOST_ELEMENTS
