"""Branches on sizes: torch.export narrows the dim to one side and does not name the line."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from modelexport_exporter.core.pitfall import Pitfall, PitfallKind
from modelexport_exporter.diagnosis.pitfalls.forward_code import ForwardCode
from modelexport_exporter.diagnosis.pitfalls.names import Kind


def find(code: ForwardCode) -> Iterator[Pitfall]:
    """Yield `if` and conditional expressions over sizes."""
    for node in code.walk((ast.If, ast.IfExp)):
        if code.names.kind_of(node.test) is Kind.SIZE:
            yield Pitfall(
                PitfallKind.SIZE_BRANCH,
                f"`if {code.text(node.test)}` decides by a size: the file holds for sizes on one "
                "side",
                code.place(node),
                "Declare in dims only the sizes on one side, or write both sides as one (slices "
                "and padding work for all sizes).",
            )
