"""Source in which a `for` and a list comprehension ask `Loop`, and not Python. Pure.

The body becomes a function of what it assigns and changes, so that it can be captured once for all
rows. Bodies with `break`, `continue`, `return` or a scope of their own stay as they are.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

from modelexport_exporter.convert.size_loops.bodies import (
    FUNCTIONS,
    NOT_IN_A_FUNCTION,
    appended,
    asks_for_its_class,
    assigned,
    can_be_a_function,
    fresh,
    loads,
    name_of,
    own_nodes,
    stored,
)
from modelexport_exporter.convert.size_loops.whiles import is_counted, with_counted_loops
from modelexport_exporter.convert.written_source import PREFIX, as_list, at, call, filled

LOOP, LISTED, ITEMS, ROWS, SET, TIMES = (
    f"{PREFIX}{name}" for name in ("Loop", "listed", "items", "rows", "set", "times")
)
_PASSED_ON = ("enumerate", "reversed", "zip")
_ROWS = ("unbind", "split", "chunk")


def with_loops(tree: ast.Module) -> set[tuple[str, int]]:
    """Change a module's functions in place; return the name and the first line of each changed."""
    changed = set()
    for node in list(ast.walk(tree)):
        if not isinstance(node, ast.FunctionDef):
            continue
        counts = _may_be_written(node) and with_counted_loops(node)
        if _has_loops(node):
            writer = _Writer(node)
            node.body = [one for own in node.body for one in as_list(writer.visit(own))]
            if writer.changed or counts:
                first = min([node.lineno, *(own.lineno for own in node.decorator_list)])
                changed.add((node.name, first))
    ast.fix_missing_locations(tree)
    return changed


def _may_be_written(function: ast.FunctionDef) -> bool:
    nodes = own_nodes(function.body)
    return not any(isinstance(own, ast.Global | ast.Nonlocal) for own in nodes)


def _has_loops(function: ast.FunctionDef) -> bool:
    nodes = own_nodes(function.body)
    loops = any(isinstance(own, ast.For | ast.ListComp) or _is_repeated(own) for own in nodes)
    return loops and _may_be_written(function)


class _Writer(ast.NodeTransformer):
    """Writes the statements of one function; functions within it have their own."""

    def __init__(self, function: ast.FunctionDef) -> None:
        self.changed = False
        self._loads = list(loads(function))
        self._loops: list[ast.For] = []
        """Around the statement."""

    def visit(self, node: ast.AST) -> Any:  # noqa: ANN401
        """Return what takes the place of a node."""
        return node if isinstance(node, FUNCTIONS) else super().visit(node)

    def visit_For(self, node: ast.For) -> ast.AST | list[ast.stmt]:
        if not can_be_a_function(node):
            return self.generic_visit(node)
        changed = assigned(node.body)
        names = sorted(changed - fresh(node.body))
        # What counted in a `while` is assigned again after it.
        targets = set() if is_counted(node) else {*stored([node.target])}
        used = sorted((changed | targets) & set(self._used_outside(node)))
        grown = sorted(appended(node.body) & set(names))
        self.changed = True
        items = self._items(node.iter)
        plain = ast.For(deepcopy(node.target), node.iter, deepcopy(node.body), [])
        self._loops.append(node)
        for one in (node, plain):
            one.body = [part for own in one.body for part in as_list(self.visit(own))]
        self._loops.pop()
        return _both(node, plain, items, _Names(names, grown, used))

    def _used_outside(self, node: ast.For) -> Iterator[str]:
        """Yield the names that are used after a loop, or, if it is in another, before it, too."""
        last = node.end_lineno or 0
        for name, line in self._loads:
            if line > last or (self._loops and line < node.lineno):
                yield name

    def visit_ListComp(self, node: ast.ListComp) -> ast.expr:
        found = self._listed(node)
        return found if found is not None else self.generic_visit(node)  # type: ignore[return-value]

    def visit_Call(self, node: ast.Call) -> ast.AST:
        only = node.args[0] if len(node.args) == 1 and not node.keywords else None
        if isinstance(only, ast.GeneratorExp) and name_of(node.func) in {"tuple", "list"}:
            found = self._listed(only)
            if found is not None:
                node.args = [found]
                return node
        if name_of(node.func) in _PASSED_ON:
            return self._items(node)
        self.generic_visit(node)
        if isinstance(node.func, ast.Attribute) and node.func.attr in _ROWS:
            self.changed = True
            method = ast.Constant(node.func.attr)
            called = call(ROWS, [node.func.value, method, *node.args])
            called.keywords = node.keywords
            return at(called, node)
        return node

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        self.generic_visit(node)
        if not _is_repeated(node):
            return node
        self.changed = True
        return at(call(TIMES, [node.left, node.right]), node)

    def visit_Assign(self, node: ast.Assign) -> ast.AST:
        self.generic_visit(node)
        target = node.targets[0]
        if not self._loops or len(node.targets) > 1 or not _is_part_of_a_name(target):
            return node
        assert isinstance(target, ast.Subscript)
        return at(_set(target, node.value), node)

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.AST:
        self.generic_visit(node)
        if not self._loops or not _is_part_of_a_name(node.target):
            return node
        assert isinstance(node.target, ast.Subscript)
        old = ast.Subscript(node.target.value, node.target.slice, ast.Load())
        return at(_set(node.target, ast.BinOp(_loaded(old), node.op, node.value)), node)

    def _items(self, node: ast.expr) -> ast.expr:
        """Return an expression for what a loop runs over."""
        name = name_of(node.func) if isinstance(node, ast.Call) else None
        if isinstance(node, ast.Call) and name in _PASSED_ON and not _is_unpacked(node):
            self.changed = True
            arguments = [self._items(own) for own in node.args]
            called = call(ITEMS, [ast.Constant(name), *arguments])
            called.keywords = node.keywords
            return at(called, node)
        if name in _PASSED_ON:
            return self.generic_visit(node)  # type: ignore[return-value]
        return self.visit(node)  # type: ignore[no-any-return]

    def _listed(self, node: ast.ListComp | ast.GeneratorExp) -> ast.expr | None:
        first = node.generators[0]
        plain = len(node.generators) == 1 and not first.ifs and not first.is_async
        names = _names_of(first.target)
        parts = list(own_nodes([node.elt]))
        own_scope = any(isinstance(own, (*NOT_IN_A_FUNCTION, ast.NamedExpr)) for own in parts)
        if not plain or names is None or own_scope or asks_for_its_class(parts):
            return None
        self.changed = True
        single = isinstance(first.target, ast.Name)
        arguments = [self._items(first.iter), _lambda(names, self.visit(node.elt))]
        listed = call(LISTED, [*arguments, ast.Constant(single)])
        return at(listed, node)


@dataclass(frozen=True)
class _Names:
    """The variables of a loop's body."""

    changed: Sequence[str]
    """Those that it assigns, or whose value it may change."""
    grown: Sequence[str]
    """Of these, those to which it appends."""
    used: Sequence[str]
    """Those that are used after the loop, and those of the loop itself."""


def _both(node: ast.For, plain: ast.For, items: ast.expr, names: _Names) -> list[ast.stmt]:
    """Return the statements in place of a `for`."""
    loop = f"{PREFIX}loop_{node.lineno}_{node.col_offset}"
    arguments = "".join(f", {name}" for name in names.changed)
    kept = sorted({*names.changed, *names.used})
    lists = ", ".join(repr(list(own)) for own in (names.changed, names.grown, names.used))
    taken = [f"    if {name!r} in {loop}_all: {name} = {loop}_all[{name!r}]" for name in kept]
    template = "\n".join(
        [
            f"{loop} = {LOOP}(None)",
            f"if {loop}.symbolic:",
            f"    def {loop}_body({loop}_item{arguments}):",
            "        TARGET",
            "        BODY",
            f"        return {loop}.kept({kept!r}, locals())",
            f"    {loop}_all = {loop}.run({loop}_body, {lists}, locals())",
            *taken,
            "    pass",
            "else:",
            "    FOR",
        ]
    )
    item = ast.Assign([node.target], ast.Name(f"{loop}_item", ast.Load()))
    plain.iter = ast.Name(loop, ast.Load())
    parts: dict[str, list[ast.stmt]] = {
        "TARGET": [ast.copy_location(item, node)],
        "BODY": node.body,
        "FOR": [ast.copy_location(plain, node)],
    }
    return filled(template, items, parts, node)


def _is_repeated(node: ast.AST) -> bool:
    """Return whether a node is `[x] * n` or `n * [x]`."""
    return (
        isinstance(node, ast.BinOp)
        and isinstance(node.op, ast.Mult)
        and any(isinstance(side, ast.List) and side.elts for side in (node.left, node.right))
    )


def _is_part_of_a_name(target: ast.AST) -> bool:
    return isinstance(target, ast.Subscript) and name_of(target.value) not in {None, "self", "cls"}


def _set(target: ast.Subscript, value: ast.expr) -> ast.Assign:
    """Return `x = set(x, index, value)` in place of `x[index] = value`."""
    assert isinstance(target.value, ast.Name)
    name = target.value.id
    index = _as_index(target.slice)
    called = call(SET, [ast.Name(name, ast.Load()), index, value])
    return ast.Assign([ast.Name(name, ast.Store())], called)


def _as_index(node: ast.expr) -> ast.expr:
    """Return an expression for an index: `slice(a, b)` in place of `a:b`."""
    if isinstance(node, ast.Slice):
        bounds = [part or ast.Constant(None) for part in (node.lower, node.upper, node.step)]
        return call("slice", bounds)
    if isinstance(node, ast.Tuple):
        return ast.Tuple([_as_index(part) for part in node.elts], ast.Load())
    return node


def _loaded(node: ast.Subscript) -> ast.Subscript:
    assert isinstance(node.value, ast.Name)
    return ast.Subscript(ast.Name(node.value.id, ast.Load()), node.slice, ast.Load())


def _is_unpacked(node: ast.Call) -> bool:
    return any(isinstance(own, ast.Starred) for own in node.args)


def _names_of(target: ast.expr) -> list[str] | None:
    parts = target.elts if isinstance(target, ast.Tuple) else [target]
    names = [name_of(part) for part in parts]
    twice = len(set(names)) < len(names)  # `for name, _, _ in …` cannot be arguments
    return None if None in names or twice else [name for name in names if name is not None]


def _lambda(names: Sequence[str], body: ast.expr) -> ast.Lambda:
    arguments = [ast.arg(name) for name in names]
    return ast.Lambda(ast.arguments([], arguments, None, [], [], None, []), body)
