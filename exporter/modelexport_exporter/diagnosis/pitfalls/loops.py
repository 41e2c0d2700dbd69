"""Loops whose length depends on the data or on a size: the file unrolls as many as it saw."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from modelexport_exporter.core.pitfall import Pitfall, PitfallKind
from modelexport_exporter.diagnosis.pitfalls.forward_code import ForwardCode
from modelexport_exporter.diagnosis.pitfalls.names import Kind, max_kind

_PASSED_ON = {"zip", "enumerate", "reversed", "range"}


def find(code: ForwardCode) -> Iterator[Pitfall]:
    """Yield loops over values, sizes and rows, and appends to lists inside of them."""
    for loop in code.walk((ast.For, ast.While)):
        kind, what = _length(code, loop)
        if _by_data(kind, loop, what):
            yield _data_loop(code, loop, what)
        elif kind in {Kind.SIZE, Kind.SHAPE, Kind.TENSOR}:
            yield Pitfall(
                PitfallKind.SIZE_LOOP,
                f"`{what}` runs once for each row of a tensor: only a step that is the same for "
                "all rows keeps their number dynamic",
                code.place(loop),
                "Let it carry tensors of one shape and dtype and append tensors to a list, without "
                "break, return or branches on the row; or compute all rows at once, or declare "
                "that dim constant.",
            )
            yield from _appends(code, loop)


def _by_data(kind: Kind, loop: ast.For | ast.While, what: str) -> bool:
    if kind is Kind.TENSOR:
        return isinstance(loop, ast.While) or "range(" in what
    return kind is Kind.VALUE


def _length(code: ForwardCode, loop: ast.For | ast.While) -> tuple[Kind, str]:
    """Return what a loop's length depends on, and its first line."""
    if isinstance(loop, ast.While):
        return code.names.kind_of(loop.test), f"while {code.text(loop.test)}"
    return _iterated(code, loop.iter), f"for … in {code.text(loop.iter)}"


def _iterated(code: ForwardCode, node: ast.expr) -> Kind:
    called = node.func if isinstance(node, ast.Call) else None
    if isinstance(node, ast.Call) and isinstance(called, ast.Name) and called.id in _PASSED_ON:
        kinds = [_iterated(code, argument) for argument in node.args]
        return max_kind(kind for kind in kinds if kind is not Kind.CONTAINER)
    return code.names.kind_of(node)


def _data_loop(code: ForwardCode, loop: ast.For | ast.While, what: str) -> Pitfall:
    return Pitfall(
        PitfallKind.DATA_LOOP,
        f"`{what}` runs as often as a tensor's values say: a trace keeps the number of the capture",
        code.place(loop),
        "Use torch.while_loop, or take the count as an input of kind Int, so that "
        "torch.jit.script keeps the loop.",
    )


def _appends(code: ForwardCode, loop: ast.For | ast.While) -> Iterator[Pitfall]:
    for node in (found for found in ast.walk(loop) if isinstance(found, ast.Call)):
        if isinstance(node.func, ast.Attribute) and node.func.attr == "append" and node.args:
            yield Pitfall(
                PitfallKind.LIST_APPEND,
                f"`{code.text(node)}` grows a list as long as a size: unless torch.stack or "
                "torch.cat joins it, the file keeps the length of the capture",
                code.place(node),
                "Join it by torch.stack or torch.cat, or write into a tensor made before the loop "
                "(x.new_zeros(n, …)).",
            )
