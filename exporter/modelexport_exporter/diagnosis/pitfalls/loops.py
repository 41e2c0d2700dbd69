"""Loops over a size: the file has as many iterations as the capture had."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from modelexport_exporter.core.pitfall import Pitfall, PitfallKind
from modelexport_exporter.diagnosis.pitfalls.forward_code import ForwardCode
from modelexport_exporter.diagnosis.pitfalls.names import Kind, max_kind

_PASSED_ON = {"zip", "enumerate", "reversed", "range"}


def find(code: ForwardCode) -> Iterator[Pitfall]:
    """Yield loops over sizes, and appends to lists inside of them."""
    for loop in code.walk(ast.For):
        if _iterated_kind(code, loop.iter) in {Kind.SIZE, Kind.SHAPE}:
            yield Pitfall(
                PitfallKind.SIZE_LOOP,
                f"`for … in {code.text(loop.iter)}` runs once for each row of a tensor: the file "
                "has the number of rows of the capture",
                code.place(loop),
                "Compute all rows at once, use torch.scan or torch.while_loop, or declare that dim "
                "constant.",
            )
            yield from _appends(code, loop)


def _iterated_kind(code: ForwardCode, node: ast.expr) -> Kind:
    called = node.func if isinstance(node, ast.Call) else None
    if isinstance(node, ast.Call) and isinstance(called, ast.Name) and called.id in _PASSED_ON:
        kinds = [_iterated_kind(code, argument) for argument in node.args]
        return max_kind(kind for kind in kinds if kind is not Kind.CONTAINER)
    return code.names.kind_of(node)


def _appends(code: ForwardCode, loop: ast.For) -> Iterator[Pitfall]:
    for node in (found for found in ast.walk(loop) if isinstance(found, ast.Call)):
        if isinstance(node.func, ast.Attribute) and node.func.attr == "append" and node.args:
            yield Pitfall(
                PitfallKind.LIST_APPEND,
                f"`{code.text(node)}` grows a list as long as a size: the file keeps the length "
                "of the capture",
                code.place(node),
                "Write into a tensor made before the loop (x.new_zeros(n, …)), or compute all "
                "rows at once.",
            )
