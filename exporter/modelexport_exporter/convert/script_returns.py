"""Returns inside of the loops of a script, and returns of dicts.

torch.jit.script carries what such a loop returns from round to round, and begins with no value. The
TorchScript exporter finds one where an `if` has none, and fails where a loop has. It has no dicts:
their values are returned in their order.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import torch

from modelexport_exporter.torch_internals.torchscript_graph import nodes_of

Node: TypeAlias = Any
Graph: TypeAlias = Any
Type: TypeAlias = Any
"""torch._C's, which are untyped."""

UNUSED = torch.int8
"""The dtype of a tensor that stands for no value: `script_loops` gives it that of what follows."""
_NUMBERS: dict[str, object] = {"IntType": 0, "FloatType": 0.0, "BoolType": False}


def begin_returns_with_values(graph: Graph) -> None:
    """Change a graph in place: loops, and sides of an `if`, have values where nothing reads one.

    Of sides only numbers: the exporter finds tensors itself.
    """
    for node in list(nodes_of(graph)):
        if node.kind() == "prim::Loop":
            _fill(graph, node, _unused)
        elif node.kind() == "prim::If":
            for block in node.blocks():
                _fill(graph, block.returnNode(), _unused_number)


def _fill(graph: Graph, node: Node, unused: Callable[[Graph, Type], Any]) -> None:
    """Replace the inputs of a node that stand for no value."""
    for place, value in enumerate(list(node.inputs())):
        if value.node().kind() == "prim::Uninitialized":
            graph.setInsertPoint(node)
            made = unused(graph, value.type())
            if made is not None:
                node.replaceInput(place, made)


def _unused_number(graph: Graph, wanted: Type) -> Any | None:  # noqa: ANN401
    kind = wanted.kind()
    return graph.insertConstant(_NUMBERS[kind]) if kind in _NUMBERS else None


def _unused(graph: Graph, wanted: Type) -> Any | None:  # noqa: ANN401
    """Return a value of a type; None for types that a file does not carry."""
    kind = wanted.kind()
    if kind == "TensorType":
        return graph.insertConstant(torch.zeros((), dtype=UNUSED))
    if kind != "TupleType":
        return _unused_number(graph, wanted)
    elements = [_unused(graph, element) for element in wanted.elements()]
    if None in elements:
        return None
    node = graph.insertNode(graph.create("prim::TupleConstruct", elements, 1))
    node.output().setType(wanted)
    return node.output()


def return_values_of_dicts(graph: Graph) -> None:
    """Change a graph in place: it returns a tuple of the values of each dict that it returns."""
    ended = graph.return_node()
    for place, value in enumerate(list(ended.inputs())):
        ended.replaceInput(place, _without_dicts(graph, value))


def _without_dicts(graph: Graph, value: Any) -> Any:  # noqa: ANN401 - untyped
    kind = value.node().kind()
    if kind == "prim::DictConstruct":
        parts = _values(graph, value)
        return value if parts is None else _tuple(graph, parts)
    if kind == "prim::TupleConstruct":
        given = list(value.node().inputs())
        parts = [_without_dicts(graph, part) for part in given]
        return _tuple(graph, parts) if parts != given else value
    return value


def _values(graph: Graph, made: Any) -> list[Any] | None:  # noqa: ANN401 - untyped
    """Return the last values of a dict, in order; None where more than the function reads it."""
    given = list(made.node().inputs())
    pairs = list(zip(given[::2], given[1::2], strict=True))
    changes = [node for node in graph.nodes() if _sets_item_of(node, made)]
    kinds = [use.user.kind() for use in made.uses()]
    returned = sum(kind in {"prim::Return", "prim::TupleConstruct"} for kind in kinds)
    pairs += [tuple(node.inputs())[1:] for node in changes]
    found = {key.toIValue(): value for key, value in pairs}
    if len(changes) + returned < len(kinds) or not all(isinstance(key, str) for key in found):
        return None
    for node in changes:
        node.destroy()
    return list(found.values())


def _sets_item_of(node: Node, made: Any) -> bool:  # noqa: ANN401 - untyped
    if node.kind() != "aten::_set_item":
        return False
    changed: bool = next(node.inputs()).debugName() == made.debugName()
    return changed


def _tuple(graph: Graph, parts: list[Any]) -> Any:  # noqa: ANN401 - untyped
    graph.setInsertPoint(graph.return_node())
    node = graph.insertNode(graph.create("prim::TupleConstruct", parts, 1))
    node.output().setType(torch.TupleType([part.type() for part in parts]))
    return node.output()
