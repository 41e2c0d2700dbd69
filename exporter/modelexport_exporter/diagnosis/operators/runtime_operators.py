"""Which operators outside the ONNX standard the installed onnxruntime has.

A file may hold nodes of any domain; whether it runs is up to the runtime. The runtime's own
schemas tell it without loading the file.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from functools import cache
from typing import Any

import onnx
import onnxruntime

from modelexport_api.status import Support, UnsupportedOp

_STANDARD = {"", "ai.onnx", "ai.onnx.ml", "ai.onnx.preview.training", "ai.onnx.training"}


@cache
def _known() -> dict[str, str]:
    """Return `domain::Name` of the runtime's operators outside the standard, by folded name."""
    from onnxruntime.capi import onnxruntime_pybind11_state as state

    return {
        _folded(schema.name): f"{schema.domain}::{schema.name}"
        for schema in state.get_all_operator_schema()
        if schema.domain not in _STANDARD and "internal" not in schema.domain
    }


def runtime_operator(name: str) -> str | None:
    """Return `com.microsoft::BiasGelu` for `mine::bias_gelu.default`; None if there is none."""
    return _known().get(_folded(name.partition("::")[2].partition(".")[0]))


def _folded(name: str) -> str:
    return name.replace("_", "").lower()


def missing_in_runtime(model: onnx.ModelProto, *, libraries: bool = False) -> list[UnsupportedOp]:
    """Return the nodes of custom domains that neither the file nor onnxruntime defines.

    `libraries`: whether libraries of custom operators are loaded, whose content is unknown.
    """
    if libraries:
        return []
    own = {(function.domain, function.name) for function in model.functions}
    known = set(_known().values())
    counts = Counter(
        f"{node.domain}::{node.op_type}"
        for node in all_nodes(model)
        if node.domain not in _STANDARD and (node.domain, node.op_type) not in own
    )
    return [
        UnsupportedOp(
            name=name,
            count=count,
            support=Support.RUNTIME,
            hint=f"onnxruntime {onnxruntime.__version__} does not know it: give its library in "
            "export.runtimeLibraries, or its body as export.plugins' onnx_functions.",
        )
        for name, count in counts.items()
        if name not in known
    ]


def all_nodes(model: onnx.ModelProto) -> Iterator[onnx.NodeProto]:
    """Yield the nodes of a file, those of loops, branches and functions too."""
    yield from _nodes(model.graph.node)
    for function in model.functions:
        yield from _nodes(function.node)


def _nodes(nodes: Any) -> Iterator[onnx.NodeProto]:  # noqa: ANN401 - protobuf is untyped
    for node in nodes:
        yield node
        for attribute in node.attribute:
            for graph in [attribute.g, *attribute.graphs]:
                yield from _nodes(graph.node)
