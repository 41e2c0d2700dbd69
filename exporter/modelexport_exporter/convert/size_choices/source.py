"""Source in which an `if` on sizes asks `Choice`, and not Python. Pure.

Of a function it changes `a if c else b`, `if` statements that only assign local variables or
elements of local lists, and `and`, `or` and `not` within their conditions and in what is assigned.
An `if` on values that only prints or logs is left out: no output depends on it.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from modelexport_exporter.convert.size_choices.elements import (
    is_element,
    names_of_lists,
    names_of_others,
    of_whole_lists,
    stored,
)
from modelexport_exporter.convert.written_source import PREFIX, as_list, at, call, filled

CHOICE, CHOOSE = "_modelexport_Choice", "_modelexport_choose"
ALL, ANY, NOT = "_modelexport_all", "_modelexport_any", "_modelexport_not"
COMPARED, TRUTH = "_modelexport_compared", "_modelexport_truth"
SPEAKS = "_modelexport_speaks"
_OPERATORS = {
    ast.Eq: "eq",
    ast.NotEq: "ne",
    ast.Lt: "lt",
    ast.LtE: "le",
    ast.Gt: "gt",
    ast.GtE: "ge",
}
OPERATOR = "_modelexport_operator"
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_OWN_SCOPES = (ast.NamedExpr, ast.Yield, ast.YieldFrom, ast.Await)


def with_choices(tree: ast.Module) -> set[tuple[str, int]]:
    """Change a module's functions in place; return the name and the first line of each changed."""
    changed = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            writer = _Writer(node)
            node.body = [one for own in node.body for one in as_list(writer.visit(own))]
            if writer.changed:
                first = min([node.lineno, *(own.lineno for own in node.decorator_list)])
                changed.add((node.name, first))
    ast.fix_missing_locations(tree)
    return changed


class _Writer(ast.NodeTransformer):
    """Writes the statements of one function; functions within it have their own."""

    def __init__(self, function: ast.FunctionDef) -> None:
        self.changed = False
        self._loads = _loads(function)
        self._own = {own.arg for own in ast.walk(function.args) if isinstance(own, ast.arg)}
        self._own.update(stored(function))
        self._only_locals = not any(
            isinstance(own, ast.Global | ast.Nonlocal) for own in ast.walk(function)
        )
        self._loops = 0
        """Around the statement."""

    def visit_For(self, node: ast.For) -> ast.AST:
        return self._loop(node)

    def visit_While(self, node: ast.While) -> ast.AST:
        return self._loop(node)

    def _loop(self, node: ast.For | ast.While) -> ast.AST:
        self._loops += 1
        found = self.generic_visit(node)
        self._loops -= 1
        return found

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        return node

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> ast.AST:
        return node

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        return node

    def visit_Lambda(self, node: ast.Lambda) -> ast.AST:
        return node

    def visit_IfExp(self, node: ast.IfExp) -> ast.expr:
        if _has_own_scope(node):
            return node
        self.changed = True
        test = self._condition(node.test)
        self.generic_visit(node)
        sides = [_later(node.body), _later(node.orelse)]
        return at(call(CHOOSE, [test, *sides]), node)

    def visit_Assign(self, node: ast.Assign) -> ast.AST:
        if isinstance(node.value, ast.BoolOp | ast.Compare) and not _has_own_scope(node.value):
            node.value = self._condition(node.value, truth=False)
            return node
        return self.generic_visit(node)

    def visit_If(self, node: ast.If) -> ast.AST | list[ast.stmt]:
        if only_speaks(node):
            self.changed = True
            node.test = at(call(SPEAKS, [self.visit(node.test)]), node.test)
            return node
        sides = [*node.body, *node.orelse]
        simple = _only_assigns(sides) and not _has_own_scope(node.test)
        if not simple or not self._only_locals:
            return self.generic_visit(node)
        names, lists = names_of_others(sides), names_of_lists(sides)
        if not (self._own - {*names}).issuperset(lists):
            return self.generic_visit(node)
        self.changed = True
        last = 0 if self._loops else node.end_lineno or 0
        used = [name for name in names if self._loads.get(name, 0) > last]
        test = self._condition(node.test)
        self.generic_visit(node)
        return _both_sides(node, test, _Names(names, used, lists))

    def _condition(self, node: ast.expr, *, truth: bool = True) -> ast.expr:
        """Return an expression for the condition; `truth`: only its truth is asked for."""
        if isinstance(node, ast.BoolOp):
            self.changed = True
            name = ALL if isinstance(node.op, ast.And) else ANY
            parts = [_later(self._condition(own, truth=truth)) for own in node.values]
            return at(call(name, parts), node)
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            self.changed = True
            return at(call(NOT, [self._condition(node.operand)]), node)
        if isinstance(node, ast.Compare) and len(node.ops) == 1 and type(node.ops[0]) in _OPERATORS:
            self.changed = True
            name = _OPERATORS[type(node.ops[0])]
            function = ast.Attribute(ast.Name(OPERATOR, ast.Load()), name, ast.Load())
            sides = [self.visit(node.left), self.visit(node.comparators[0])]
            return at(call(COMPARED, [function, *sides]), node)
        plain: ast.expr = self.visit(node)
        return at(call(TRUTH, [plain]), node) if truth else plain


@dataclass(frozen=True)
class _Names:
    """Local variables of an `if`."""

    assigned: Sequence[str]
    used: Sequence[str]
    """Of these, those that are used after it."""
    lists: Sequence[str]
    """Lists of which it assigns elements."""


def _both_sides(node: ast.If, test: ast.expr, names: _Names) -> list[ast.stmt]:
    """Return the statements in place of an `if`."""
    choice = f"_modelexport_choice_{node.lineno}_{node.col_offset}"
    kept = f"{choice}.keeps({[*names.used, *names.lists]!r}, locals())"
    restored = [
        f"    if {name!r} in {choice}.old: {name} = {choice}.old[{name!r}]"
        for name in (*names.assigned, *names.lists)
    ]
    taken = [
        f"        if {name!r} in {choice}_all: {name} = {choice}_all[{name!r}]"
        for name in names.used
    ]
    taken += [f"        {name} = {choice}.written({name!r}, {choice}_all)" for name in names.lists]
    template = "\n".join(
        [
            f"{choice} = {CHOICE}(None)",
            f"if {choice}.symbolic:",
            f"    {choice}.remember(locals())",
            "    try:",
            f"        with {choice}:",
            "            ONE_WHOLE",
            f"        {choice}_one = {kept}",
            *("    " + line for line in restored),
            f"        with {choice}:",
            "            OTHER_WHOLE",
            f"        {choice}_all = {choice}.merged({choice}_one, {kept})",
            *taken,
            "    except Exception:",
            *("    " + line for line in restored),
            f"        {choice}.symbolic = False",
            f"if not {choice}.symbolic:",
            f"    if {choice}:",
            "        ONE",
            "    else:",
            "        OTHER",
        ]
    )
    other = node.orelse or [ast.Pass()]
    sides = {"ONE": node.body, "OTHER": other}
    sides |= {"ONE_WHOLE": of_whole_lists(node.body), "OTHER_WHOLE": of_whole_lists(other)}
    return filled(template, test, sides, node)


def _only_assigns(statements: Sequence[ast.stmt]) -> bool:
    """Return whether statements do nothing but to assign local variables, and their elements."""
    return all(
        isinstance(own, ast.Pass)
        or (isinstance(own, ast.Expr) and isinstance(own.value, ast.Constant))
        or (isinstance(own, ast.Assign) and all(map(_is_local, own.targets)))
        or (isinstance(own, ast.Assign) and len(own.targets) == 1 and is_element(own.targets[0]))
        or (isinstance(own, ast.AugAssign) and (_is_local(own.target) or is_element(own.target)))
        for own in statements
    ) and any(isinstance(own, ast.Assign | ast.AugAssign) for own in statements)


_SPEAKERS = {"warnings", "logging", "logger", "log", "_logger"}
_METHODS = {"warn", "warning", "info", "debug", "error", "critical", "exception", "log"}


def only_speaks(node: ast.If) -> bool:
    """Return whether an `if` prints, logs or warns, and does nothing else."""
    return not node.orelse and all(
        isinstance(own, ast.Expr) and isinstance(own.value, ast.Call) and _speaks(own.value.func)
        for own in node.body
    )


def _speaks(function: ast.expr) -> bool:
    if isinstance(function, ast.Name):
        return function.id in {"print", "warn"}
    if not isinstance(function, ast.Attribute) or function.attr not in _METHODS:
        return False
    owner = function.value
    name = owner.attr if isinstance(owner, ast.Attribute) else getattr(owner, "id", "")
    return name.lower() in _SPEAKERS


def _is_local(target: ast.expr) -> bool:
    parts = target.elts if isinstance(target, ast.Tuple) else [target]
    return all(isinstance(part, ast.Name) for part in parts)


def _loads(function: ast.FunctionDef) -> dict[str, float]:
    """Return the last line in which each name is used: of one in an inner function, any line."""
    found: dict[str, float] = {}
    written = {part for own in ast.walk(function) for part in _written(own)}
    for own in ast.walk(function):
        if isinstance(own, ast.Name) and isinstance(own.ctx, ast.Load):
            found[own.id] = max(found.get(own.id, 0), own.lineno)
        elif own is not function and isinstance(own, _FUNCTIONS) and own not in written:
            inner = (part for part in ast.walk(own) if isinstance(part, ast.Name))
            found.update({part.id: math.inf for part in inner})
    return found


def _written(node: ast.AST) -> Iterator[ast.AST]:
    """Yield a function that was written for the body of a loop: it runs at its own place."""
    if isinstance(node, ast.FunctionDef) and node.name.startswith(PREFIX):
        yield node
    called = node.func if isinstance(node, ast.Call) else None
    if isinstance(node, ast.Call) and isinstance(called, ast.Name) and called.id.startswith(PREFIX):
        yield from (own for own in node.args if isinstance(own, ast.Lambda))


def _has_own_scope(node: ast.AST) -> bool:
    """Return whether a part of an expression cannot stand in a function of its own."""
    return any(isinstance(own, _OWN_SCOPES) for own in ast.walk(node))


def _later(node: ast.expr) -> ast.Lambda:
    nothing = ast.arguments([], [], None, [], [], None, [])
    return ast.Lambda(nothing, node)
