"""Several graphs of one model, each for a path through its branches, as one graph with If nodes.

The graphs were captured from the same code, so that they agree up to the decision where their paths
part. What they have in common is computed once, before that decision.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import onnx_ir as ir

from modelexport_exporter.convert.branches import (
    SharedWeights,
    branch,
    common_outputs,
    if_node,
    use_inputs,
    whole_model,
    with_own_outputs,
)

Key = tuple[object, ...]
MOST_BYTES = 1 << 16
"""Larger constants are not compared: they are the same only if they are one tensor."""


@dataclass(frozen=True)
class Path:
    """The graph of one path: its outputs are the model's, then a condition for each decision."""

    taken: tuple[bool, ...]
    model: ir.Model

    @property
    def outputs(self) -> list[ir.Value]:
        """Return the outputs of the model."""
        return list(self.model.graph.outputs)[: -len(self.taken) or None]


def joined(paths: Sequence[Path]) -> ir.Model:
    """Return one model that decides as the paths do. Their graphs are taken apart.

    Raises ValueError where outputs differ in number, type or rank.
    """
    first = paths[0].model
    outputs = common_outputs([path.outputs for path in paths])
    inputs, weights = list(first.graph.inputs), SharedWeights()
    parts = [_Parts.of(path, inputs, weights, place) for place, path in enumerate(paths)]
    scope = _Scope()
    results = _Joining(outputs, first.graph.opset_imports).place(parts, scope, {})
    nodes, values = with_own_outputs(scope.nodes, results, "whole")
    for value, named in zip(values, outputs, strict=True):
        value.name = named.name
    return whole_model([path.model for path in paths], inputs, nodes, values, weights)


@dataclass
class _Scope:
    """What is computed in a graph, and around it."""

    around: _Scope | None = None
    nodes: list[ir.Node] = field(default_factory=list)
    known: dict[Key, ir.Node] = field(default_factory=dict)

    def find(self, key: Key) -> ir.Node | None:
        scope: _Scope | None = self
        while scope is not None:
            if key in scope.known:
                return scope.known[key]
            scope = scope.around
        return None


@dataclass
class _Parts:
    """The graph of a path, from which nodes are taken."""

    taken: tuple[bool, ...]
    graph: ir.Graph
    outputs: list[ir.Value]
    conditions: list[ir.Value]
    moved: dict[ir.Value, ir.Value] = field(default_factory=dict)
    """Values that another graph computed before."""

    @staticmethod
    def of(path: Path, inputs: Sequence[ir.Value], weights: SharedWeights, place: int) -> _Parts:
        graph = path.model.graph
        use_inputs(graph, inputs)
        weights.take_from(graph, f"path_{place}")
        results = list(graph.outputs)
        graph.inputs.clear()
        graph.outputs.clear()
        count = len(results) - len(path.taken)
        return _Parts(path.taken, graph, results[:count], results[count:])

    def resolved(self, value: ir.Value) -> ir.Value:
        return self.moved.get(value, value)

    def decide(self, condition: ir.Value, scope: _Scope) -> ir.Value:
        """Compute in a scope what forward computes before it decides; return the condition."""
        source = self.resolved(condition).producer()
        if source is not None and source.graph is self.graph:
            nodes = list(self.graph)
            self._move(nodes[: nodes.index(source) + 1], scope)
        return self.resolved(condition)

    def finish(self, scope: _Scope) -> list[ir.Value]:
        """Compute the rest in a scope; return the outputs."""
        self._move(list(self.graph), scope)
        return [self.resolved(value) for value in self.outputs]

    def _move(self, nodes: Sequence[ir.Node], scope: _Scope) -> None:
        """Move nodes into a scope, but those that are computed there."""
        for node in nodes:
            key = _key(node)
            known = scope.find(key) if key is not None else None
            if known is None:
                self.graph.remove(node)
                scope.nodes.append(node)
                if key is not None:
                    scope.known[key] = node
                continue
            self.moved.update(zip(node.outputs, known.outputs, strict=True))
            ir.convenience.replace_all_uses_with(node.outputs, known.outputs)
            self.graph.remove(node)


@dataclass(frozen=True)
class _Joining:
    outputs: Sequence[ir.Value]
    opsets: dict[str, int]

    def place(
        self, paths: Sequence[_Parts], scope: _Scope, decided: dict[ir.Value, bool], depth: int = 0
    ) -> list[ir.Value]:
        """Compute the outputs in a scope, where all paths took the same sides up to `depth`."""
        first = paths[0]
        if depth == len(first.taken):
            return first.finish(scope)
        condition = first.decide(first.conditions[depth], scope)
        sides = [[path for path in paths if path.taken[depth] is side] for side in (True, False)]
        if condition in decided or not all(sides):
            # Decided before by the same condition: the other side cannot be reached.
            side = decided.get(condition, first.taken[depth])
            own = sides[0] if side else sides[1]
            return self.place(own, scope, decided, depth + 1)
        branches = []
        for side, own in zip((True, False), sides, strict=True):
            inner = _Scope(scope)
            results = self.place(own, inner, {**decided, condition: side}, depth + 1)
            name = f"{'then' if side else 'else'}_{depth}_{len(scope.nodes)}"
            branches.append(branch(inner.nodes, results, name, self.opsets))
        name = f"by_value_{depth}_{len(scope.nodes)}"
        node = if_node(condition, branches[0], branches[1], self.outputs, name)
        scope.nodes.append(node)
        return list(node.outputs)


def _key(node: ir.Node) -> Key | None:
    """Return what two nodes have in common that compute the same; None if only this one has it."""
    attributes: list[object] = []
    for name, attribute in sorted(node.attributes.items()):
        content = _content(attribute)
        if content is None:
            return None
        attributes.append((name, content))
    inputs = tuple(id(value) if value is not None else None for value in node.inputs)
    return (*node.op_identifier(), inputs, len(node.outputs), tuple(attributes))


def _content(attribute: ir.Attr) -> object:
    if attribute.is_ref() or attribute.type in {ir.AttributeType.GRAPH, ir.AttributeType.GRAPHS}:
        return None
    if attribute.type is not ir.AttributeType.TENSOR:
        return str(attribute.type), repr(attribute.value)
    tensor = attribute.as_tensor()
    if tensor.nbytes > MOST_BYTES:
        return "tensor", id(tensor)
    return "tensor", str(tensor.dtype), tuple(tensor.shape.numpy()), tensor.tobytes()
