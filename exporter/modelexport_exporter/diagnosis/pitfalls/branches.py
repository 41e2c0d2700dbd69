"""Branches on the data or on sizes: a trace keeps the one that it took."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from modelexport_exporter.core.pitfall import Pitfall, PitfallKind
from modelexport_exporter.diagnosis.pitfalls.forward_code import ForwardCode
from modelexport_exporter.diagnosis.pitfalls.names import Kind


def find(code: ForwardCode) -> Iterator[Pitfall]:
    """Yield `if`, conditional expressions and asserts over tensors, and `if` over sizes."""
    for node in code.walk((ast.If, ast.IfExp, ast.Assert)):
        kind = code.names.kind_of(node.test)
        if kind in {Kind.TENSOR, Kind.VALUE}:
            yield Pitfall(
                PitfallKind.DATA_BRANCH,
                f"`{_head(code, node)}` decides by the values of a tensor: a trace keeps the "
                "branch that it took",
                code.place(node),
                "Write torch.where(condition, a, b) for values, torch.cond(condition, f, g, (x,)) "
                "for whole branches"
                + (", or leave the check out." if isinstance(node, ast.Assert) else "."),
            )
        elif kind is Kind.SIZE and not isinstance(node, ast.Assert):
            yield Pitfall(
                PitfallKind.SIZE_BRANCH,
                f"`{_head(code, node)}` decides by a size: the file holds for sizes on one side",
                code.place(node),
                "Declare in dims only the sizes on one side, or write both sides as one (slices "
                "and padding work for all sizes).",
            )


def _head(code: ForwardCode, node: ast.If | ast.IfExp | ast.Assert) -> str:
    word = "assert" if isinstance(node, ast.Assert) else "if"
    return f"{word} {code.text(node.test)}"
