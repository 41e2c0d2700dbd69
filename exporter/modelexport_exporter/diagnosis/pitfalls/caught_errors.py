"""Errors of operators that forward catches: a decision on values that no graph can hold."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from modelexport_exporter.core.pitfall import Pitfall, PitfallKind
from modelexport_exporter.diagnosis.pitfalls.forward_code import ForwardCode
from modelexport_exporter.diagnosis.pitfalls.names import Kind

_OF_OPERATORS = frozenset(
    {"IndexError", "RuntimeError", "LinAlgError", "ValueError", "ArithmeticError"}
    | {"ZeroDivisionError", "Exception", "BaseException"}
)
"""Errors that depend on values; others are of types, attributes and imports."""


def find(code: ForwardCode) -> Iterator[Pitfall]:
    """Yield `except` clauses after which forward goes on, around operators on tensors."""
    for tried in code.walk(ast.Try):
        handler = next((own for own in tried.handlers if _goes_on(code, own)), None)
        if handler is not None and _computes(code, tried.body):
            yield Pitfall(
                PitfallKind.CAUGHT_ERROR,
                f"`{_head(code, handler)}` catches an error that operators raise for some values: "
                "a file has no exceptions, and a graph keeps the side that it took",
                code.place(handler),
                "Test the values instead of catching the error: compute both sides on values that "
                "are valid (x.clamp(0, n - 1)), and choose by torch.where(valid, a, b).",
            )


def _goes_on(code: ForwardCode, handler: ast.ExceptHandler) -> bool:
    """Return whether a handler catches an error of an operator, and raises none itself."""
    if isinstance(handler.body[-1], ast.Raise):
        return False
    caught = handler.type
    kinds = caught.elts if isinstance(caught, ast.Tuple) else [caught] if caught else []
    names = {code.dotted(kind).rpartition(".")[2] for kind in kinds}
    return not kinds or not names.isdisjoint(_OF_OPERATORS)


def _computes(code: ForwardCode, body: list[ast.stmt]) -> bool:
    found = (node for statement in body for node in ast.walk(statement))
    return any(
        isinstance(node, ast.Call | ast.Subscript | ast.BinOp)
        and code.names.kind_of(node) in {Kind.TENSOR, Kind.VALUE, Kind.CONTAINER}
        for node in found
    )


def _head(code: ForwardCode, handler: ast.ExceptHandler) -> str:
    return f"except {code.text(handler.type)}" if handler.type else "except"
