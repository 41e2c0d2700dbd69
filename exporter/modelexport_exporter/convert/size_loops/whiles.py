"""A `while` that counts to a size as a `for`: `while t < n: …; t += 1`. Pure."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from copy import deepcopy

import torch

from modelexport_exporter.convert.size_loops.bodies import (
    assigned,
    can_be_a_function,
    name_of,
    own_nodes,
)
from modelexport_exporter.convert.written_source import PREFIX, as_list, call

Size = int | torch.SymInt
COUNTS, COUNTED = f"{PREFIX}counts", f"{PREFIX}counted"
_CALLS = {"len", "min", "max", "int", "size", "dim"}
"""In a bound: they return the same in each round, of what no round changes."""


def with_counted_loops(function: ast.FunctionDef) -> bool:
    """Change the loops of a function that only count; return whether there were any."""
    writer = _Writer()
    function.body = [one for own in function.body for one in as_list(writer.visit(own))]
    return writer.changed


def is_counted(loop: ast.For) -> bool:
    """Return whether a `for` was written for a `while`."""
    return loop.type_comment == COUNTED


def counts(start: object, bound: object) -> bool:
    """Return whether both are integers or sizes: a `while` may count to 2.5, too."""
    return all(
        isinstance(one, int | torch.SymInt) and not isinstance(one, bool) for one in (start, bound)
    )


def counted(start: Size, bound: Size, step: int) -> Size:
    """Return the number with which such a loop ends; sizes may be symbolic."""
    rounds = torch.sym_max(0, (bound - start + step - 1) // step)
    return start + rounds * step


class _Writer(ast.NodeTransformer):
    def __init__(self) -> None:
        self.changed = False

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        return node

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        return node

    def visit_While(self, node: ast.While) -> ast.AST | list[ast.stmt]:
        self.generic_visit(node)
        written = _as_for(node)
        if written is None:
            return node
        self.changed = True
        return [ast.fix_missing_locations(ast.copy_location(own, node)) for own in written]


def _as_for(node: ast.While) -> list[ast.stmt] | None:
    """Return the statements in place of a loop; None where it does more than to count."""
    found, step = _bound(node.test), _step(node.body[-1])
    if found is None or step is None or found[0] != step[0]:
        return None
    name, bound = found
    plain = deepcopy(node)
    body = node.body[:-1] or [ast.Pass()]
    loop = ast.For(ast.Name(name, ast.Store()), ast.Constant(None), body, [], COUNTED)
    if node.orelse or not can_be_a_function(loop) or not _is_fixed(bound, body, name):
        return None
    start, end = (f"{PREFIX}{part}_{node.lineno}_{node.col_offset}" for part in ("start", "end"))
    limits = [ast.Name(start, ast.Load()), ast.Name(end, ast.Load()), ast.Constant(step[1])]
    loop.iter = call("range", limits)
    ended = ast.Assign([ast.Name(name, ast.Store())], call(COUNTED, limits))
    return [
        ast.Assign([ast.Name(start, ast.Store())], ast.Name(name, ast.Load())),
        ast.Assign([ast.Name(end, ast.Store())], bound),
        ast.If(call(COUNTS, limits[:2]), [loop, ended], [plain]),
    ]


def _bound(test: ast.expr) -> tuple[str, ast.expr] | None:
    """Return `t` and `n` of `t < n`, of `n > t`, and `n + 1` of `t <= n`."""
    if not isinstance(test, ast.Compare) or len(test.ops) != 1:
        return None
    left, right, compare = test.left, test.comparators[0], test.ops[0]
    if isinstance(compare, ast.Gt | ast.GtE):
        left, right = right, left
    name = name_of(left)
    if name is None or not isinstance(compare, ast.Lt | ast.LtE | ast.Gt | ast.GtE):
        return None
    if isinstance(compare, ast.LtE | ast.GtE):
        right = ast.BinOp(right, ast.Add(), ast.Constant(1))
    return name, right


def _step(last: ast.stmt) -> tuple[str, int] | None:
    """Return `t` and 2 of `t += 2` and of `t = t + 2`."""
    if isinstance(last, ast.AugAssign) and isinstance(last.op, ast.Add):
        name, amount = name_of(last.target), last.value
    elif isinstance(last, ast.Assign) and isinstance(last.value, ast.BinOp):
        name, amount = name_of(last.targets[0]), last.value.right
        plain = isinstance(last.value.op, ast.Add) and name_of(last.value.left) == name
        if not plain or len(last.targets) > 1:
            return None
    else:
        return None
    counts = isinstance(amount, ast.Constant) and type(amount.value) is int and amount.value > 0
    return (name, amount.value) if name and counts else None  # type: ignore[attr-defined]


def _is_fixed(bound: ast.expr, body: list[ast.stmt], name: str) -> bool:
    """Return whether a bound is the same in each round, and only the last statement counts."""
    changed = assigned(body)
    parts = list(own_nodes(body))
    attributes = any(
        isinstance(own, ast.Attribute) and isinstance(own.ctx, ast.Store) for own in parts
    )
    known = all(own in _CALLS for own in _calls(bound))
    used = {own.id for own in ast.walk(bound) if isinstance(own, ast.Name)}
    return known and not attributes and name not in changed and not (used - _CALLS) & changed


def _calls(bound: ast.expr) -> Iterator[str]:
    for own in ast.walk(bound):
        if isinstance(own, ast.Call):
            function = own.func
            yield function.attr if isinstance(function, ast.Attribute) else name_of(function) or ""
