"""In-place arithmetic on sizes: a trace changes the size where it stands, for all who read it."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from modelexport_exporter.core.pitfall import Pitfall, PitfallKind
from modelexport_exporter.diagnosis.pitfalls.forward_code import ForwardCode
from modelexport_exporter.diagnosis.pitfalls.names import Kind


def find(code: ForwardCode) -> Iterator[Pitfall]:
    """Yield `seq += 2` after `seq = x.shape[1]`."""
    for node in code.walk(ast.AugAssign):
        if isinstance(node.target, ast.Name) and code.names.kind_of(node.target) is Kind.SIZE:
            name = node.target.id
            operator = code.text(node).split("=")[0].split()[-1]
            yield Pitfall(
                PitfallKind.SHAPE_ARITHMETIC,
                f"`{code.text(node)}` changes a size in place: in a trace, the tensor's shape "
                "changes with it",
                code.place(node),
                f"Write {name} = {name} {operator} {code.text(node.value)}.",
            )
