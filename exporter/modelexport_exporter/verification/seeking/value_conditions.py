"""The If nodes of a file whose condition depends on values of the inputs.

A condition on sizes, such as `x.size(0) == 3` of a script, is none: all sizes are compared, or as
many as the budget allows.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

import onnx

from modelexport_exporter.onnx_file.modules import CLASSES

_SIZES = frozenset({"Shape", "Size"})
_SHAPED_BY_VALUES = frozenset(
    {"Compress", "ConstantOfShape", "NonMaxSuppression", "NonZero", "Range", "Unique"}
)
"""Operators whose result has a shape that depends on values."""
_SHAPED_BY_PARAMETERS = frozenset(
    {"Expand", "OneHot", "Pad", "Reshape", "Resize", "Slice", "Split", "SplitToSequence", "Tile"}
    | {"TopK"}
)
"""Operators whose result has a shape that depends on the values of parameters."""


def value_conditions(graph: onnx.GraphProto) -> list[bool]:
    """Return for each If, in the order of `branching_nodes`, whether values decide."""
    given = {entry.name for entry in graph.input} - {entry.name for entry in graph.initializer}
    search = _Dependence(values=set(given), shapes=set())
    search.visit(graph)
    return [by_values for _, by_values in sorted(search.decided.items())]


def branching_nodes(graph: onnx.GraphProto) -> Iterator[onnx.NodeProto]:
    """Yield the If nodes of a graph and of the graphs inside, the outer ones first."""
    for node in graph.node:
        if node.op_type == "If":
            yield node
        for body in bodies(node):
            yield from branching_nodes(body)


def in_translations(graph: onnx.GraphProto, *, inside: bool = False) -> Iterator[bool]:
    """Yield for each If, in the order of `branching_nodes`, whether it is no branch of the model.

    A translation of an ATen op may hold one, as that of embedding_bag does for negative indices,
    which no input reaches.
    """
    for node in graph.node:
        own = inside or _translates_aten(node)
        if node.op_type == "If":
            yield own
        for body in bodies(node):
            yield from in_translations(body, inside=own)


def _translates_aten(node: onnx.NodeProto) -> bool:
    classes = (entry.value for entry in node.metadata_props if entry.key == CLASSES)
    return any("'aten." in found.rpartition(",")[2] for found in classes)


def bodies(node: onnx.NodeProto) -> list[onnx.GraphProto]:
    """Return the graphs inside a node; the then side of an If first."""
    found = [attribute for attribute in node.attribute if attribute.HasField("g")]
    found.sort(key=lambda attribute: attribute.name, reverse=True)
    return [attribute.g for attribute in found]


class _Dependence:
    """Follows the values of inputs, and shapes that depend on them, by the names of values."""

    def __init__(self, values: set[str], shapes: set[str]) -> None:
        self._values = values
        self._shapes = shapes
        self.decided: dict[int, bool] = {}
        """Whether values decide an If, by its number in the order of `branching_nodes`."""
        self._visited = 0

    def visit(self, graph: onnx.GraphProto) -> None:
        for node in graph.node:
            if node.op_type == "If":
                self._visit_if(node)
            elif node.op_type == "Loop":
                self._visit_loop(node)
            else:
                self._visit_plain(node)

    def _visit_plain(self, node: onnx.NodeProto) -> None:
        by_values = not self._values.isdisjoint(node.input)
        shaped = not self._shapes.isdisjoint(node.input)
        for body in bodies(node):
            self.visit(body)
            by_values = by_values or self._is_any([entry.name for entry in body.output])
        shaped = shaped or (by_values and node.op_type in _SHAPED_BY_VALUES)
        if node.op_type in _SHAPED_BY_PARAMETERS:
            shaped = shaped or self._is_any(node.input[1:])
        if node.op_type in _SIZES:
            by_values, shaped = shaped, False
        self._note(node.output, by_values=by_values, shaped=shaped)

    def _visit_if(self, node: onnx.NodeProto) -> None:
        decided = self._is_any(node.input)
        self.decided[self._visited] = decided or self.decided.get(self._visited, False)
        self._visited += 1
        sides = bodies(node)
        for body in sides:
            self.visit(body)
        for place, name in enumerate(node.output):
            ends = [body.output[place].name for body in sides]
            by_values = decided or self._is_any(ends)
            shaped = decided or not self._shapes.isdisjoint(ends)
            self._note([name], by_values=by_values, shaped=shaped)

    def _visit_loop(self, node: onnx.NodeProto) -> None:
        (body,) = bodies(node)
        trips_by_values = self._is_any(node.input[:1])
        self._note([body.input[0].name], by_values=trips_by_values, shaped=False)
        pairs = list(zip(node.input[1:], [entry.name for entry in body.input[1:]], strict=False))
        for outer, inner in pairs:
            self._pass(outer, inner)
        first = self._visited
        for _round in range(len(pairs) + 1):
            self._visited = first
            before = len(self._values), len(self._shapes)
            self.visit(body)
            for inner, end in zip(body.input[1:], body.output, strict=False):
                self._pass(end.name, inner.name)
            if before == (len(self._values), len(self._shapes)):
                break
        ends_by_values = trips_by_values or self._is_any([body.output[0].name])
        for name, end in zip(node.output, body.output[1:], strict=False):
            by_values = ends_by_values or self._is_any([end.name])
            shaped = ends_by_values or end.name in self._shapes
            self._note([name], by_values=by_values, shaped=shaped)

    def _is_any(self, names: Collection[str]) -> bool:
        return not self._values.isdisjoint(names)

    def _pass(self, source: str, target: str) -> None:
        self._note([target], by_values=source in self._values, shaped=source in self._shapes)

    def _note(self, names: Collection[str], *, by_values: bool, shaped: bool) -> None:
        own = {name for name in names if name}
        self._values |= own if by_values else set()
        self._shapes |= own if shaped else set()
