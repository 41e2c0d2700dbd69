"""The graphs of a file: its own, and those inside of its nodes."""

from __future__ import annotations

from collections.abc import Iterator

import onnx


def graphs_of(graph: onnx.GraphProto) -> Iterator[onnx.GraphProto]:
    """Yield the graph, and those of its If, Loop and Scan nodes."""
    yield graph
    for node in graph.node:
        for attribute in node.attribute:
            if attribute.HasField("g"):
                yield from graphs_of(attribute.g)
