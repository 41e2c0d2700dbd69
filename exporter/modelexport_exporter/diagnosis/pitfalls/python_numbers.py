"""Numbers taken from tensors: the graph keeps the number that the capture saw."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from modelexport_exporter.core.pitfall import Pitfall, PitfallKind
from modelexport_exporter.diagnosis.pitfalls.forward_code import ForwardCode
from modelexport_exporter.diagnosis.pitfalls.names import Kind

_METHODS = {
    "item": "keep it a tensor",
    "tolist": "keep it a tensor; or write the type of the numbers (`counts: list[int] = "
    "x.tolist()`), with which torch.jit.script takes the line",
}
_TYPES = {
    "float": "write x.to(torch.float32), or leave the tensor as it is",
    "int": "write x.to(torch.int64), or leave the tensor as it is",
    "bool": "leave the tensor as it is, and choose with torch.where",
}
_MAKERS = {"torch.tensor", "torch.as_tensor"}
_OF_TENSORS = {Kind.TENSOR, Kind.CONTAINER, Kind.VALUE, Kind.SIZE, Kind.SHAPE}


def find(code: ForwardCode) -> Iterator[Pitfall]:
    """Yield `.item()`, `.tolist()`, `float(x)` and `torch.tensor(…)` of such numbers."""
    for call in code.walk(ast.Call):
        if isinstance(call.func, ast.Attribute) and call.func.attr in _METHODS:
            if code.names.kind_of(call.func.value) is Kind.TENSOR:
                yield _pitfall(code, call, _METHODS[call.func.attr])
        elif isinstance(call.func, ast.Name) and call.func.id in _TYPES:
            if code.names.kind_of(call.args[0] if call.args else None) is Kind.TENSOR:
                yield _pitfall(code, call, _TYPES[call.func.id])
        elif (
            code.dotted(call.func) in _MAKERS
            and call.args
            and code.names.kind_of(call.args[0]) in _OF_TENSORS
        ):
            yield _pitfall(
                code,
                call,
                "build it from the tensor itself: torch.stack, x.clone(), x.new_ones(…), or "
                "torch.arange(n) for sizes",
            )


def _pitfall(code: ForwardCode, call: ast.Call, suggestion: str) -> Pitfall:
    return Pitfall(
        PitfallKind.PYTHON_NUMBER,
        f"`{code.text(call)}` makes a Python number of a tensor: the file keeps the number of the "
        "capture",
        code.place(call),
        f"In forward, {suggestion}.",
    )
