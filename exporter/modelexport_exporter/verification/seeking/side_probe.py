"""A small file that computes which sides of its If nodes another file takes.

Each side returns a vector that counts it, next to its own results; loops add up the vectors of
their rounds. All that conditions do not need is left out, so that a run of the probe costs little.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from modelexport_exporter.verification.seeking.value_conditions import bodies, branching_nodes

COUNTS = "modelexport_counts_of_sides"
LOOPS = frozenset({"Loop", "Scan"})
_AXES_ARE_AN_INPUT = 13
"""Since this opset, ReduceSum takes its axes as an input."""


def probe_of(model: onnx.ModelProto) -> onnx.ModelProto | None:
    """Return a file whose only output counts the runs of each side; None without an If.

    Entry 2 k + s of the output is that of side s (0: then) of If k, as `branching_nodes` counts.
    """
    probe = onnx.ModelProto()
    probe.CopyFrom(model)
    opset = next(entry.version for entry in model.opset_import if entry.domain in {"", "ai.onnx"})
    counter = _Counter(sum(1 for _ in branching_nodes(probe.graph)), opset)
    counts = counter.count_in(probe.graph)
    if counts is None:
        return None
    probe.graph.node.append(helper.make_node("Identity", [counts], [COUNTS]))
    del probe.graph.output[:], probe.graph.value_info[:]
    probe.graph.output.append(counter.typed(COUNTS))
    leave_out_unused(probe.graph)
    return probe


class _Counter:
    def __init__(self, branches: int, opset: int) -> None:
        self._length = 2 * branches
        self._visited = 0
        self._opset = opset
        self._made = 0

    def typed(self, name: str) -> onnx.ValueInfoProto:
        return helper.make_tensor_value_info(name, TensorProto.INT64, [self._length])

    def count_in(self, graph: onnx.GraphProto) -> str | None:
        """Add nodes that count, and return the value with the counts; None without an If."""
        parts = [counts for node in graph.node for counts in self._count(graph, node)]
        return self._sum(graph, parts)

    def _count(self, graph: onnx.GraphProto, node: onnx.NodeProto) -> Iterator[str]:
        if node.op_type == "If":
            number = self._visited
            self._visited += 1
            for side, body in enumerate(bodies(node)):
                inner = self.count_in(body)
                own = self._constant(body, 2 * number + side)
                total = self._sum(body, [own, inner] if inner else [own])
                assert total is not None
                body.output.append(self.typed(total))
            node.output.append(self._name())
            yield node.output[-1]
        else:
            for body in bodies(node):
                inner = self.count_in(body)
                if inner is not None and node.op_type in LOOPS:
                    body.output.append(self.typed(inner))  # scanned: a row for each round
                    node.output.append(self._name())
                    yield self._sum_of_rows(graph, node.output[-1])

    def _constant(self, graph: onnx.GraphProto, place: int) -> str:
        values = np.zeros(self._length, np.int64)
        values[place] = 1
        return self._append(graph, "Constant", [], value=numpy_helper.from_array(values))

    def _sum(self, graph: onnx.GraphProto, parts: Sequence[str]) -> str | None:
        total: str | None = None
        for part in parts:
            total = part if total is None else self._append(graph, "Add", [total, part])
        return total

    def _sum_of_rows(self, graph: onnx.GraphProto, rows: str) -> str:
        if self._opset < _AXES_ARE_AN_INPUT:
            return self._append(graph, "ReduceSum", [rows], axes=[0], keepdims=0)
        zero = numpy_helper.from_array(np.zeros(1, np.int64))
        axes = self._append(graph, "Constant", [], value=zero)
        return self._append(graph, "ReduceSum", [rows, axes], keepdims=0)

    def _append(
        self,
        graph: onnx.GraphProto,
        op_type: str,
        inputs: Sequence[str],
        **attributes: Any,  # noqa: ANN401 - as onnx types them
    ) -> str:
        name = self._name()
        graph.node.append(helper.make_node(op_type, inputs, [name], **attributes))
        return name

    def _name(self) -> str:
        self._made += 1
        return f"modelexport_sides_{self._made}"


def leave_out_unused(graph: onnx.GraphProto) -> set[str]:
    """Remove what the graph's outputs do not need; return the values of outer graphs it needs."""
    needed = {entry.name for entry in graph.output}
    for place in reversed(range(len(graph.node))):
        node = graph.node[place]
        if needed.isdisjoint(node.output):
            del graph.node[place]
            continue
        if node.op_type == "If":
            _leave_out_results(node, needed)
        needed.update(node.input)
        for body in bodies(node):
            needed |= leave_out_unused(body)
    for place in reversed(range(len(graph.initializer))):
        if graph.initializer[place].name not in needed:
            del graph.initializer[place]
    own = {name for node in graph.node for name in node.output}
    own |= {entry.name for entry in (*graph.input, *graph.initializer)}
    return needed - own


def _leave_out_results(node: onnx.NodeProto, needed: set[str]) -> None:
    for place in reversed(range(len(node.output))):
        if node.output[place] not in needed:
            del node.output[place]
            for body in bodies(node):
                del body.output[place]
