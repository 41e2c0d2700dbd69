"""Dtypes that a script leaves out, and that torch's TorchScript exporter takes to be float32.

It takes a tensor without dims, such as a row of a series, for a number of the default dtype: in a
script of float64, a loop over rows computed in float32.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TypeAlias

import torch

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


_SINGLE = frozenset({5, 6, 15})
"""torch's numbers of float16, float32 and bfloat16."""
_MAKES_FLOATS = frozenset(
    f"aten::{name}"
    for name in (
        *("arange", "empty", "eye", "full", "linspace", "logspace", "ones", "rand", "randn"),
        *("scalar_tensor", "tensor", "zeros"),
    )
)
"""What makes floats of the default dtype, if it is given floats, or no values."""
_OF_NO_VALUES = frozenset({"aten::empty", "aten::eye", "aten::ones", "aten::zeros"})


def is_double(compiled: Any, dtypes: Sequence[torch.dtype]) -> bool:  # noqa: ANN401
    """Return whether all floats of a compiled module are float64. `dtypes`: of its inputs."""
    weights = [own.dtype for own in (*compiled.parameters(), *compiled.buffers())]
    floats = {dtype for dtype in (*dtypes, *weights) if dtype.is_floating_point}
    return floats == {torch.float64} and not any(map(_makes_others, nodes_of(compiled.graph)))


def _makes_others(node: Node) -> bool:
    """Return whether a node may make floats that are not float64."""
    if node.kind() == "prim::Constant":
        kind = node.output().type()
        dtype = kind.dtype() if kind.kind() == "TensorType" else None
        return dtype is not None and dtype.is_floating_point and dtype != torch.float64
    place = _place_of_dtype(node)
    if place is None:
        return False
    given = node.inputsAt(place)
    if given.type().kind() != "NoneType":
        # Another tensor's dtype is float64, too, or no float.
        known = given.node().kind() == "prim::Constant"
        return given.toIValue() in _SINGLE if known else given.node().kind() != "prim::dtype"
    if node.kind() not in _MAKES_FLOATS:
        return False
    kinds = {value.type().str() for value in node.inputs()}
    return node.kind() in _OF_NO_VALUES or any(
        "float" in kind or "Scalar" in kind for kind in kinds
    )


def _place_of_dtype(node: Node) -> int | None:
    """Return which input of an operator is its dtype; None if it has none."""
    schema: str = node.schema()
    arguments = schema.partition("(")[2].split(", ")
    names = [argument.partition("=")[0].split(" ")[-1] for argument in arguments if argument != "*"]
    return names.index("dtype") if "dtype" in names else None


@contextmanager
def default_is_double(wanted: bool) -> Iterator[None]:
    """Let the exporter take 0-dim floats for float64, as it takes them for the default dtype."""
    before = torch.get_default_dtype()
    torch.set_default_dtype(torch.float64 if wanted else before)
    try:
        yield
    finally:
        torch.set_default_dtype(before)
