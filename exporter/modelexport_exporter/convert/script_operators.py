"""Writes operators of scripted models that torch's exporter lacks by those that it has.

The compiled definition of each takes the place of its node in the graph.
"""

from __future__ import annotations

from collections.abc import Collection
from functools import cache
from typing import Any, TypeAlias

import torch

from modelexport_exporter.convert.script_definitions import DEFINITIONS, INEXACT
from modelexport_exporter.decompositions.registry import enabled
from modelexport_exporter.torch_internals.symbolics import is_registered
from modelexport_exporter.torch_internals.torchscript_graph import (
    inline_calls,
    lower_tuples,
    nodes_of,
)

Node: TypeAlias = Any
Graph: TypeAlias = Any
"""torch._C's, which are untyped."""


def write_missing_operators(graph: Graph, opset: int, disabled: Collection[str]) -> None:
    """Change a graph in place: what has no exact symbolic function at the opset is defined here.

    `disabled`: operators, such as `aten::diff`, that are left to plugins.
    """
    for node in list(nodes_of(graph)):
        name = _name_of(node)
        exact = is_registered(node.kind(), opset) and name not in INEXACT
        if name in DEFINITIONS and enabled(node.kind(), disabled) and not exact:
            graph.setInsertPoint(node)
            outputs = graph.insertGraph(_definition(name), list(node.inputs()))
            for one, other in zip(list(node.outputs()), outputs, strict=True):
                one.replaceAllUsesWith(other)
            node.destroy()


@cache
def _definition(name: str) -> Graph:
    compiled: Any = torch.jit.script(DEFINITIONS[name])
    graph = compiled.graph.copy()
    inline_calls(graph)
    lower_tuples(graph)
    return graph


def _name_of(node: Node) -> str:
    """Return `diff` or `trapezoid.dx`; empty for what is no operator."""
    schema: str = node.schema()
    return schema.partition("(")[0].removeprefix("aten::") if node.kind()[:6] == "aten::" else ""
