"""Branches of the ONNX operator If, made of graphs that compute the same outputs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import onnx_ir as ir
import torch

from modelexport_exporter.call import BoundInputs
from modelexport_exporter.convert.dynamo import Translation
from modelexport_exporter.core.types import SizeGuard
from modelexport_exporter.plugins.plugins import Plugins


@dataclass(frozen=True)
class ModelToCapture:
    """A model that is captured several times."""

    module: torch.nn.Module
    bound_inputs: BoundInputs
    """With the sizes of the capture."""
    plugins: Plugins
    code_dir: Path | None


@dataclass(frozen=True)
class PartialGraph:
    """A graph that holds for a part of the declared sizes."""

    translation: Translation
    conditions: tuple[str, ...]
    """On dims, as Python expressions; all of them have to be true."""


@dataclass(frozen=True)
class SeveralGraphs:
    """A model of several graphs, each for some sizes or values."""

    model: ir.Model
    guards: tuple[SizeGuard, ...]
    """Sizes at which the verification compares it."""


def common_outputs(graphs: Sequence[Sequence[ir.Value]]) -> list[ir.Value]:
    """Return the outputs that all graphs have, with sizes where they agree.

    Raises ValueError where they differ in number, type or rank.
    """
    common = []
    for values in zip(*graphs, strict=True):
        shapes = [value.shape for value in values]
        dtypes = {value.dtype for value in values}
        ranks = {len(shape) for shape in shapes if shape is not None}
        if len(dtypes) != 1 or len(ranks) != 1 or None in shapes:
            msg = f"output {values[0].name} has another type or rank in another branch"
            raise ValueError(msg)
        dims = [set(sizes) for sizes in zip(*(shape for shape in shapes if shape), strict=True)]
        merged = [next(iter(sizes)) if len(sizes) == 1 else None for sizes in dims]
        common.append(ir.val(str(values[0].name), dtypes.pop(), ir.Shape(merged)))
    return common


def branch(
    nodes: Sequence[ir.Node], outputs: Sequence[ir.Value], name: str, opsets: dict[str, int]
) -> ir.Graph:
    """Return a graph of these nodes, which computes each of its outputs itself."""
    own, results = with_own_outputs(nodes, outputs, name)
    return ir.Graph((), results, nodes=own, opset_imports=opsets, name=name)


def with_own_outputs(
    nodes: Sequence[ir.Node], outputs: Sequence[ir.Value], name: str
) -> tuple[list[ir.Node], list[ir.Value]]:
    """Return nodes that compute each output, each once, and the outputs.

    A graph cannot return a value of the graph around it.
    """
    own = list(nodes)
    results: list[ir.Value] = []
    for place, value in enumerate(outputs):
        if value.producer() in nodes and value not in results:
            results.append(value)
            continue
        copied = ir.val(f"{value.name}_{name}_{place}", value.dtype, value.shape)
        own.append(ir.Node("", "Identity", [value], outputs=[copied]))
        results.append(copied)
    return own, results


def use_inputs(graph: ir.Graph, inputs: Sequence[ir.Value]) -> None:
    """Let a graph compute with these inputs in the place of its own."""
    for own, outer in zip(list(graph.inputs), inputs, strict=True):
        if own is not outer:
            ir.convenience.replace_all_uses_with(own, outer, replace_graph_outputs=True)


def whole_model(
    models: Sequence[ir.Model],
    inputs: Sequence[ir.Value],
    nodes: Sequence[ir.Node],
    outputs: Sequence[ir.Value],
    weights: SharedWeights,
) -> ir.Model:
    """Return one model with what these nodes take from several; its names are the first one's."""
    first = models[0]
    functions = {key: own for model in models for key, own in model.functions.items()}
    graph = ir.Graph(
        inputs,
        outputs,
        nodes=nodes,
        initializers=list(weights.kept.values()),
        opset_imports=first.graph.opset_imports,
        name=first.graph.name,
    )
    return ir.Model(
        graph,
        ir_version=first.ir_version,
        producer_name=first.producer_name,
        producer_version=first.producer_version,
        functions=list(functions.values()),
    )


def if_node(
    test: ir.Value, then: ir.Graph, otherwise: ir.Graph, outputs: Sequence[ir.Value], name: str
) -> ir.Node:
    """Return the node that runs one of two branches; its outputs are like the given ones."""
    values = [ir.val(f"{value.name}_{name}", value.dtype, value.shape) for value in outputs]
    branches = [ir.AttrGraph("then_branch", then), ir.AttrGraph("else_branch", otherwise)]
    return ir.Node("", "If", [test], branches, outputs=values, name=name)


class SharedWeights:
    """The initializers of several graphs: one for each tensor, under its own name if it is free."""

    def __init__(self) -> None:
        self.kept: dict[str, ir.Value] = {}

    def take_from(self, graph: ir.Graph, label: str) -> None:
        """Move the initializers of a graph, whose nodes use the shared ones afterwards."""
        for name, own in list(graph.initializers.items()):
            del graph.initializers[name]
            known = self.kept.get(name)
            if known is not None and _is_same(known, own):
                ir.convenience.replace_all_uses_with(own, known, replace_graph_outputs=True)
                continue
            own.name = name if known is None else f"{name}_{label}"
            self.kept[own.name] = own


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
