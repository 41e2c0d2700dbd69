"""NumPy in forward: it computes while the graph is captured, and its result becomes a constant."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from modelexport_exporter.core.pitfall import Pitfall, PitfallKind
from modelexport_exporter.diagnosis.pitfalls.forward_code import ForwardCode
from modelexport_exporter.diagnosis.pitfalls.names import Kind


def find(code: ForwardCode) -> Iterator[Pitfall]:
    """Yield calls of NumPy, and tensors that become arrays."""
    for call in code.walk(ast.Call):
        name = code.dotted(call.func)
        if name.startswith("numpy.") and not name.startswith("numpy.random."):
            replacement = f"torch.{name.removeprefix('numpy.')}"
            yield _pitfall(code, call, f"use {replacement} or its like on tensors")
        elif name == "torch.from_numpy":
            yield _pitfall(code, call, _instead_of_array(code, call))
        elif _is_numpy_method(call) and code.names.kind_of(call.func.value) is Kind.TENSOR:
            yield _pitfall(code, call, "stay with tensors: use torch's own operators")


def _instead_of_array(code: ForwardCode, call: ast.Call) -> str:
    names = (node for node in ast.walk(call) if isinstance(node, ast.Name))
    kinds = {code.names.kind_of(name) for name in names}
    if kinds & {Kind.SIZE, Kind.SHAPE}:
        return "make it of the sizes with torch: torch.tensor, torch.arange, torch.linspace, …"
    return "make it once in __init__ with register_buffer"


def _is_numpy_method(call: ast.Call) -> bool:
    return isinstance(call.func, ast.Attribute) and call.func.attr == "numpy"


def _pitfall(code: ForwardCode, node: ast.Call, suggestion: str) -> Pitfall:
    return Pitfall(
        PitfallKind.NUMPY,
        f"`{code.text(node)}` leaves torch for NumPy, whose result becomes a constant of the file",
        code.place(node),
        f"In forward, {suggestion}.",
    )
