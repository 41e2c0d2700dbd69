"""Several graphs of one model, each for some sizes, as one graph that chooses by If."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import onnx_ir as ir
import torch

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
    shapes = _output_shapes(pieces)
    first = pieces[0].model
    inputs, names = list(first.graph.inputs), [value.name for value in first.graph.outputs]
    conditions = ConditionNodes({dim: (inputs[at], axis) for dim, (at, axis) in places.items()})
    tests = [conditions.holds(piece.region) for piece in pieces[:-1]]
    weights: dict[str, ir.Value] = {}
    branches = [
        _branch(piece.model.graph, inputs, weights, f"branch_{place}")
        for place, piece in enumerate(pieces)
    ]
    node = _if(tests[-1], branches[-2], branches[-1], shapes, f"by_size_{len(tests) - 1}")
    for place in reversed(range(len(tests) - 1)):
        imports = first.graph.opset_imports
        others = ir.Graph((), node.outputs, nodes=[node], opset_imports=imports, name=node.name)
        node = _if(tests[place], branches[place], others, shapes, f"by_size_{place}")
    for value, name in zip(node.outputs, names, strict=True):
        value.name = name
    functions = {key: own for piece in pieces for key, own in piece.model.functions.items()}
    model = ir.Model(
        ir.Graph(
            inputs,
            node.outputs,
            nodes=[*conditions.nodes, node],
            initializers=list(weights.values()),
            opset_imports=first.graph.opset_imports,
            name=first.graph.name,
        ),
        ir_version=first.ir_version,
        producer_name=first.producer_name,
        producer_version=first.producer_version,
        functions=list(functions.values()),
    )
    return make_names_unique(model)


def _output_shapes(pieces: Sequence[Piece]) -> list[ir.Value]:
    """Return the outputs that all pieces have, with sizes where they agree."""
    common = []
    for values in zip(*(piece.model.graph.outputs for piece in pieces), strict=True):
        shapes = [value.shape for value in values]
        dtypes = {value.dtype for value in values}
        ranks = {len(shape) for shape in shapes if shape is not None}
        if len(dtypes) != 1 or len(ranks) != 1 or None in shapes:
            msg = f"output {values[0].name} has another type or rank at other sizes"
            raise ValueError(msg)
        dims = [set(sizes) for sizes in zip(*(shape for shape in shapes if shape), strict=True)]
        merged = [next(iter(sizes)) if len(sizes) == 1 else None for sizes in dims]
        common.append(ir.val(str(values[0].name), dtypes.pop(), ir.Shape(merged)))
    return common


def _branch(
    graph: ir.Graph, inputs: Sequence[ir.Value], weights: dict[str, ir.Value], name: str
) -> ir.Graph:
    """Turn a graph into a branch of If, whose inputs and weights are those around it."""
    _own_outputs(graph)
    for own, outer in zip(list(graph.inputs), inputs, strict=True):
        if own is not outer:
            ir.convenience.replace_all_uses_with(own, outer)
    for key, own in list(graph.initializers.items()):
        del graph.initializers[key]
        known = weights.get(key)
        if known is not None and _is_same(known, own):
            ir.convenience.replace_all_uses_with(own, known)
            continue
        own.name = key if known is None else f"{key}_{name}"
        weights[own.name] = own
    nodes, outputs = list(graph), list(graph.outputs)
    graph.inputs.clear()
    graph.outputs.clear()
    graph.remove(nodes)
    for value in outputs:
        value.name = f"{value.name}_{name}"
    return ir.Graph((), outputs, nodes=nodes, opset_imports=graph.opset_imports, name=name)


def _own_outputs(graph: ir.Graph) -> None:
    """Let a node of the graph compute each output: a branch cannot return a value around it."""
    for place, value in enumerate(list(graph.outputs)):
        if value.producer() is None:
            own = ir.val(f"{value.name}_returned_{place}", value.dtype, value.shape)
            graph.append(ir.Node("", "Identity", [value], outputs=[own]))
            graph.outputs[place] = own


def _is_same(one: ir.Value, other: ir.Value) -> bool:
    """Return whether two initializers hold the same numbers."""
    left, right = one.const_value, other.const_value
    if left is None or right is None or left.dtype != right.dtype or left.shape != right.shape:
        return False
    if _memory(left) == _memory(right) is not None:
        return True
    # What the optimizer folded, such as weights of a convolution with those of its norm.
    return left.tobytes() == right.tobytes()


def _memory(tensor: ir.TensorProtocol) -> tuple[object, ...] | None:
    """Return where the numbers of a tensor of the module are; None for others."""
    raw = getattr(tensor, "raw", None)
    return (raw.data_ptr(), raw.stride()) if isinstance(raw, torch.Tensor) else None


def _if(
    test: ir.Value, then: ir.Graph, otherwise: ir.Graph, outputs: Sequence[ir.Value], name: str
) -> ir.Node:
    values = [ir.val(f"{value.name}_{name}", value.dtype, value.shape) for value in outputs]
    branches = [ir.AttrGraph("then_branch", then), ir.AttrGraph("else_branch", otherwise)]
    return ir.Node("", "If", [test], branches, outputs=values, name=name)
