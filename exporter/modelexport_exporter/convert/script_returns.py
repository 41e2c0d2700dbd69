"""Returns inside of the loops of a script.

torch.jit.script carries what such a loop returns from round to round, and begins with no value. The
TorchScript exporter finds one where an `if` has none, and fails where a loop has.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TypeAlias

import torch

Node: TypeAlias = Any
Graph: TypeAlias = Any
Type: TypeAlias = Any
"""torch._C's, which are untyped."""

UNUSED = torch.int8
"""The dtype of a tensor that stands for no value: `script_loops` gives it that of what follows."""
_NUMBERS: dict[str, object] = {"IntType": 0, "FloatType": 0.0, "BoolType": False}


def begin_returns_with_values(graph: Graph) -> None:
    """Change a graph in place: loops begin with values, which nothing reads."""
    for loop in list(_loops(graph)):
        for place, value in enumerate(list(loop.inputs())):
            if value.node().kind() == "prim::Uninitialized":
                graph.setInsertPoint(loop)
                made = _unused(graph, value.type())
                if made is not None:
                    loop.replaceInput(place, made)


def _unused(graph: Graph, wanted: Type) -> Any | None:  # noqa: ANN401
    """Return a value of a type; None for types that a file does not carry."""
    kind = wanted.kind()
    if kind == "TensorType":
        return graph.insertConstant(torch.zeros((), dtype=UNUSED))
    if kind in _NUMBERS:
        return graph.insertConstant(_NUMBERS[kind])
    if kind != "TupleType":
        return None
    elements = [_unused(graph, element) for element in wanted.elements()]
    if None in elements:
        return None
    node = graph.insertNode(graph.create("prim::TupleConstruct", elements, 1))
    node.output().setType(wanted)
    return node.output()


def _loops(block: Any) -> Iterator[Node]:  # noqa: ANN401 - a graph or a block
    for node in block.nodes():
        if node.kind() == "prim::Loop":
            yield node
        for inner in node.blocks():
            yield from _loops(inner)
