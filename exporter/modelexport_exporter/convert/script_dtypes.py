"""Dtypes that a script leaves out, and that torch's TorchScript exporter takes to be float32."""

from __future__ import annotations

from typing import Any, TypeAlias

from modelexport_exporter.torch_internals.torchscript_graph import nodes_of

Node: TypeAlias = Any
Graph: TypeAlias = Any
"""torch._C's, which are untyped."""

_FILL, _DTYPE = 1, 2
"""Inputs of aten::full(size, fill_value, dtype, …)."""
_DTYPES = {"IntType": 4, "BoolType": 11}
"""torch's numbers of int64 and bool, by what torch.full takes the dtype from."""


def write_dtypes(graph: Graph) -> None:
    """Change a graph in place: `torch.full((n,), -1)` is int64."""
    for node in list(nodes_of(graph)):
        if node.kind() == "aten::full" and node.inputsAt(_DTYPE).type().kind() == "NoneType":
            dtype = _DTYPES.get(node.inputsAt(_FILL).type().kind())
            if dtype is not None:
                graph.setInsertPoint(node)
                node.replaceInput(_DTYPE, graph.insertConstant(dtype))
