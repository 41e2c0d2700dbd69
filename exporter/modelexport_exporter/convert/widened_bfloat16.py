"""bfloat16 on a CPU: the graph computes in float32 and rounds where eager rounds.

onnxruntime's CPU provider has no kernel of bfloat16 that computes. torch computes an op on bfloat16
in float32, too, and rounds its result; so each node does the same between two casts. What only
moves elements is not rounded again. Weights, inputs, outputs and what loops carry stay bfloat16.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import onnx_ir as ir
from onnx_ir.passes import common as passes

_NARROW, _WIDE = ir.DataType.BFLOAT16, ir.DataType.FLOAT
_OF_ANY_TYPE = frozenset(
    {"Cast", "Constant", "Identity", "Shape", "Size", "If", "Loop", "Scan", "ConcatFromSequence"}
    | {"SequenceConstruct", "SequenceAt", "SequenceInsert", "SequenceEmpty", "SequenceErase"}
)
"""onnxruntime's CPU kernels of these take bfloat16."""
_MOVES = frozenset(
    {"Reshape", "Transpose", "Squeeze", "Unsqueeze", "Flatten", "Expand", "Tile", "Concat", "Split"}
    | {"Slice", "Gather", "GatherElements", "GatherND", "Where", "Pad", "Trilu", "TopK", "Max"}
    | {"Min", "Clip", "Relu", "Abs", "Neg", "Compress", "ConstantOfShape", "MaxPool", "Unique"}
    | {"ReduceMax", "ReduceMin", "DepthToSpace", "SpaceToDepth", "ReverseSequence"}
)
"""Each element of the result is one of the operands', or its negative."""


def widen_bfloat16(model: ir.Model) -> None:
    """Rewrite a model in place. It stays as it is if nothing in it is bfloat16."""
    nodes = list(model.graph.all_nodes())
    given = (*model.graph.inputs, *model.graph.initializers.values())
    if not any(map(_is_narrow, given)) and not any(map(_makes_narrow, nodes)):
        return
    if any(value.dtype is None for node in nodes for value in node.outputs if value.name):
        passes.ShapeInferencePass(check_type=False, strict_mode=False, data_prop=False)(model)
    widening = _Widening()
    widening.run(model.graph)
    widening.remove_unread()


def _makes_narrow(node: ir.Node) -> bool:
    """Return whether a node reads or makes bfloat16, also where dtypes are not known yet."""
    is_cast = node.op_type == "Cast" and node.attributes.get_int("to", 0) == _NARROW
    return is_cast or _has_narrow(node)


def _is_narrow(value: ir.Value | None) -> bool:
    if value is None or not isinstance(value.type, ir.TensorType):
        return False
    return value.dtype is _NARROW


def _has_narrow(node: ir.Node) -> bool:
    return any(map(_is_narrow, (*node.inputs, *node.outputs)))


class _Widening:
    """Rewrites a graph and those within it."""

    def __init__(self) -> None:
        self._wide: dict[ir.Value, ir.Value] = {}
        """The same numbers as float32."""
        self._casts: list[ir.Node] = []

    def run(self, graph: ir.Graph) -> None:
        """Rewrite the nodes in their order."""
        for value in (*graph.inputs, *graph.initializers.values()):
            if _is_narrow(value) and any(_computes(use.node) for use in value.uses()):
                cast = self._cast(value, _WIDE)
                _insert_first(graph, cast)
                self._wide[value] = cast.outputs[0]
        for node in list(graph):
            for inner in _graphs(node):
                self.run(inner)
            if _computes(node):
                self._widen(graph, node)
            else:
                self._read(graph, node)

    def remove_unread(self) -> None:
        """Remove the casts whose result nothing reads."""
        for cast in reversed(self._casts):
            [made] = cast.outputs
            if cast.graph is not None and not made.uses() and not made.is_graph_output():
                cast.graph.remove(cast, safe=True)

    def _read(self, graph: ir.Graph, node: ir.Node) -> None:
        """Give what a node of any type returns a value of float32."""
        for value in node.outputs:
            if _is_narrow(value):
                cast = self._cast(value, _WIDE)
                graph.insert_after(node, cast)
                self._wide[value] = cast.outputs[0]

    def _widen(self, graph: ir.Graph, node: ir.Node) -> None:
        inputs = [
            self._wide.get(value, value) if value is not None else None for value in node.inputs
        ]
        made = ir.Node(
            node.domain,
            node.op_type,
            inputs,
            [_wide_attribute(attribute) for attribute in node.attributes.values()],
            num_outputs=len(node.outputs),
            name=node.name,
            overload=node.overload,
            metadata_props=node.metadata_props,
        )
        written, results = [made], []
        for old, new in zip(node.outputs, made.outputs, strict=True):
            new.shape = old.shape
            if not _is_narrow(old):
                new.type = old.type
                results.append(new)
                continue
            new.type = ir.TensorType(_WIDE)
            new.name = f"{old.name}_computed"
            rounded = self._cast(new, _NARROW)
            written.append(rounded)
            results.append(rounded.outputs[0])
            if node.op_type in _MOVES and not node.domain:
                self._wide[rounded.outputs[0]] = new
            else:
                again = self._cast(rounded.outputs[0], _WIDE, f"{old.name}_rounded")
                written.append(again)
                self._wide[rounded.outputs[0]] = again.outputs[0]
        ir.convenience.replace_nodes_and_values(graph, node, [node], written, node.outputs, results)

    def _cast(self, value: ir.Value, dtype: ir.DataType, name: str = "") -> ir.Node:
        cast = ir.node("Cast", [value], {"to": dtype})
        self._casts.append(cast)
        producer = value.producer()
        if producer is not None:
            cast.metadata_props.update(producer.metadata_props)
        [made] = cast.outputs
        made.name = cast.name = f"{name or value.name}_{'wide' if dtype is _WIDE else 'narrow'}"
        made.shape, made.dtype = value.shape, dtype
        return cast


def _computes(node: ir.Node) -> bool:
    """Return whether a node lacks a kernel of bfloat16."""
    of_any_type = not node.domain and node.op_type in _OF_ANY_TYPE
    return not of_any_type and _has_narrow(node)


def _insert_first(graph: ir.Graph, node: ir.Node) -> None:
    first = next(iter(graph), None)
    if first is None:
        graph.append(node)
    else:
        graph.insert_before(first, node)


def _graphs(node: ir.Node) -> Iterator[ir.Graph]:
    for attribute in node.attributes.values():
        if attribute.type is ir.AttributeType.GRAPH:
            yield attribute.as_graph()
        elif attribute.type is ir.AttributeType.GRAPHS:
            yield from attribute.as_graphs()


def _wide_attribute(attribute: ir.Attr) -> ir.Attr:
    """Return the attribute of the wide node: the value that is filled in, and its dtype."""
    if attribute.type is ir.AttributeType.TENSOR and attribute.as_tensor().dtype is _NARROW:
        wide = attribute.as_tensor().numpy().astype(np.float32)
        return ir.AttrTensor(attribute.name, ir.tensor(wide))
    if attribute.name == "dtype" and attribute.as_int() == _NARROW:
        return ir.AttrInt64(attribute.name, _WIDE)
    return attribute
