"""Replace the nodes of a graph whose kernel differs from torch; docs/onnxruntime.md lists them.

One pass for every route. Where integers are provably small, and no size depends on values, the
nodes stay as they are.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass

import onnx_ir as ir

from modelexport_api.spec import ModelExportSpec
from modelexport_exporter.convert.exact_kernels import emptiness, floats, integers
from modelexport_exporter.convert.exact_kernels.emptiness import (
    REDUCTIONS,
    count_axes_from_start,
)
from modelexport_exporter.convert.exact_kernels.magnitudes import Magnitudes
from modelexport_exporter.convert.exact_kernels.rankings import sort_values
from modelexport_exporter.convert.exact_kernels.writer import Writer

Rewrite = Callable[[ir.Node, Magnitudes, Writer], ir.Value | None]
OF_INTEGERS: Mapping[str, Rewrite] = {
    "ReduceSum": integers.reduce_sum,
    "ReduceProd": integers.reduce_prod,
    "ReduceMax": integers.reduce_extreme,
    "ReduceMin": integers.reduce_extreme,
    "Max": integers.extreme,
    "Min": integers.extreme,
    "Clip": integers.clip,
    "Sign": integers.sign,
    "Mod": integers.modulo,
    "Pow": integers.power,
}
OF_FLOATS: Mapping[str, Rewrite] = {
    "ReduceLogSumExp": floats.log_sum_exp,
    "ReduceMean": emptiness.mean,
    "Sigmoid": floats.sigmoid,
    "Tanh": floats.tanh,
    "Pow": floats.square_root,
}
OLDEST_OPSET = 10
"""Mod of integers is part of ONNX since."""


@dataclass(frozen=True, slots=True)
class Declared:
    """What the spec says about the inputs."""

    magnitudes: Mapping[str, float]
    """The largest magnitude of each input whose range is declared."""
    never_empty: Collection[str]
    """Dims that are at least 1."""

    @classmethod
    def of(cls, spec: ModelExportSpec) -> Declared:
        """Return what the spec declares."""
        ranges = {entry.name: entry.range for entry in spec.inputs if entry.range is not None}
        return cls(
            {name: max(abs(low), abs(high)) for name, (low, high) in ranges.items()},
            frozenset(name for name, dim in spec.dims.items() if dim.min >= 1),
        )


def avoid_inexact_kernels(model: ir.Model, declared: Declared) -> ir.Model:
    """Return the model without nodes that onnxruntime computes otherwise than torch."""
    opset = model.graph.opset_imports.get("", 0)
    if opset < OLDEST_OPSET:
        return model
    for node in list(model.graph.all_nodes()):
        sort_values(node)
        if node.op_type in REDUCTIONS and not node.domain and node.graph is not None:
            write = Writer(node, opset, "axes")
            if count_axes_from_start(node, declared.never_empty, write):
                node.graph.insert_before(node, write.nodes)
    concerned = [(node, found) for node in model.graph.all_nodes() if (found := _rewrite(node))]
    if not concerned:
        return model
    sizes = Magnitudes(model, declared.magnitudes)
    for node, rewrite in concerned:
        write = Writer(node, opset)
        result = rewrite(node, sizes, write)
        if result is not None and node.graph is not None:
            sizes.keep(node.outputs[0], result)
            ir.convenience.replace_nodes_and_values(
                node.graph, node, [node], write.nodes, node.outputs, [result]
            )
    return model


def _rewrite(node: ir.Node) -> Rewrite | None:
    """Return what may replace the node; None for others, and for integer rewrites of floats."""
    if node.domain:
        return None
    dtype = node.inputs[0].dtype if node.inputs and node.inputs[0] is not None else None
    if dtype is not None and dtype.is_floating_point():
        return OF_FLOATS.get(node.op_type)
    return OF_INTEGERS.get(node.op_type) or OF_FLOATS.get(node.op_type)
