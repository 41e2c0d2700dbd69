"""Several graphs of one model, each for some sizes, as one graph that chooses by If."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import onnx_ir as ir

from modelexport_exporter.convert.branches import (
    SharedWeights,
    branch,
    common_outputs,
    if_node,
    use_inputs,
    whole_model,
)
from modelexport_exporter.convert.by_size.condition_nodes import ConditionNodes
from modelexport_exporter.convert.by_size.regions import Region
from modelexport_exporter.convert.names import make_names_unique


@dataclass(frozen=True)
class Piece:
    """A finished model that holds for some sizes."""

    model: ir.Model
    region: Region


def joined(pieces: Sequence[Piece], places: Mapping[str, tuple[int, int]]) -> ir.Model:
    """Return one model that runs the first piece whose region contains the sizes, else the last.

    `places`: an input and an axis for each dim. Names of inputs and outputs are the first piece's,
    whose graph, like all others, is taken apart. Raises Unsupported for a condition, and
    ValueError where outputs differ in number, type or rank.
    """
    if len(pieces) == 1:
        return pieces[0].model
    first = pieces[0].model
    outputs = common_outputs([piece.model.graph.outputs for piece in pieces])
    inputs, opsets = list(first.graph.inputs), first.graph.opset_imports
    conditions = ConditionNodes({dim: (inputs[at], axis) for dim, (at, axis) in places.items()})
    tests = [conditions.holds(piece.region) for piece in pieces[:-1]]
    weights = SharedWeights()
    branches = [
        _branch(piece.model.graph, inputs, weights, f"branch_{place}")
        for place, piece in enumerate(pieces)
    ]
    node = if_node(tests[-1], branches[-2], branches[-1], outputs, f"by_size_{len(tests) - 1}")
    for place in reversed(range(len(tests) - 1)):
        others = branch([node], node.outputs, str(node.name), opsets)
        node = if_node(tests[place], branches[place], others, outputs, f"by_size_{place}")
    for value, named in zip(node.outputs, outputs, strict=True):
        value.name = named.name
    models = [piece.model for piece in pieces]
    nodes = [*conditions.nodes, node]
    return make_names_unique(whole_model(models, inputs, nodes, node.outputs, weights))


def _branch(
    graph: ir.Graph, inputs: Sequence[ir.Value], weights: SharedWeights, name: str
) -> ir.Graph:
    """Turn a graph into a branch of If, whose inputs and weights are those around it."""
    use_inputs(graph, inputs)
    weights.take_from(graph, name)
    nodes, outputs = list(graph), list(graph.outputs)
    graph.inputs.clear()
    graph.outputs.clear()
    graph.remove(nodes)
    for value in outputs:
        if value.producer() is not None:
            value.name = f"{value.name}_{name}"
    return branch(nodes, outputs, name, graph.opset_imports)
