"""How large an ONNX file is when the calls of its functions are written out.

The checker, shape inference and onnxruntime write them out. Thirty functions, each of which calls
the one before it twice, are 2 KB and a thousand million nodes.
"""

from __future__ import annotations

from typing import Any

import onnx

MOST_NODES = 1_000_000


class TooManyNodesError(ValueError):
    """A file whose functions stand for more nodes than can be checked."""


def check_functions(model: onnx.ModelProto) -> None:
    """Raise TooManyNodesError if the calls of functions cannot be written out."""
    bodies = {(entry.domain, entry.name): entry.node for entry in model.functions}
    if not bodies:
        return
    counts: dict[tuple[str, str], int] = {}

    def count(nodes: Any) -> int:  # noqa: ANN401 - protobuf is untyped
        total = 0
        for node in nodes:
            key = (node.domain, node.op_type)
            total += count_of(key) if key in bodies else 1
            for attribute in node.attribute:
                total += sum(count(graph.node) for graph in (attribute.g, *attribute.graphs))
        return total

    def count_of(key: tuple[str, str]) -> int:
        if key not in counts:
            # A function that calls itself is written out without end.
            counts[key] = MOST_NODES + 1
            counts[key] = count(bodies[key])
        return counts[key]

    try:
        found = count(model.graph.node)
    except RecursionError:
        found = MOST_NODES + 1
    if found > MOST_NODES:
        raise TooManyNodesError(
            f"the calls of its {len(bodies)} functions stand for more than {MOST_NODES:,} nodes"
        )
