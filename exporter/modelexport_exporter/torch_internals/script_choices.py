"""`self.experts[e](x)` with a number that is computed, which torch.jit.script does not compile.

It compiles as a choice between the modules of the list: a tree of conditions on the number, in
which each call has a literal index. Exactly one of the modules runs, as in Python.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from typing import Any

from modelexport_exporter.torch_internals.script_source import statements_at

_Make = Callable[[int], str]
_WHOLE = (ast.Assign, ast.AnnAssign, ast.AugAssign, ast.Expr, ast.Return)
_APART = (
    ast.BoolOp,
    ast.IfExp,
    ast.Lambda,
    ast.ListComp,
    ast.SetComp,
    ast.DictComp,
    ast.GeneratorExp,
)
"""Expressions whose parts may not run, or run more than once."""


def choose_modules(definition: ast.FunctionDef, lengths: Mapping[str, int]) -> None:
    """Write calls of modules at computed places as choices.

    `lengths`: how many modules the lists of `self` have, by their names.
    """
    if lengths and definition.args.args:
        _Choices(definition, lengths).visit(definition)


class _Choices(ast.NodeTransformer):
    def __init__(self, definition: ast.FunctionDef, lengths: Mapping[str, int]) -> None:
        self._lengths = lengths
        self._count = 0
        self._self = definition.args.args[0].arg
        self._before: list[ast.stmt] | None = None
        """What has to run before the statement that is visited; None outside of one."""
        self._called = _names_only_called(definition)
        self._places: dict[str, tuple[str, str]] = {}
        """From a name to the list of modules, and the variable with the place in the list."""

    def visit(self, node: ast.AST) -> Any:  # noqa: ANN401
        if isinstance(node, _APART):
            return node
        if not isinstance(node, _WHOLE):
            return super().visit(node)
        outer, self._before = self._before, []
        kept = self._keep_place(node)
        statement = kept or super().visit(node)
        before, self._before = self._before, outer
        return [*before, statement]

    def _keep_place(self, statement: ast.stmt) -> ast.stmt | None:
        """Return `layer = self.experts[e]` as its place alone, where `layer` is only called."""
        match statement:
            case ast.Assign([ast.Name(name)], value) if name in self._called:
                chosen = self._chosen(value)
                if chosen is None:
                    return None
                self._count += 1
                place = f"_place_in_list_{self._count}"
                self._places[name] = chosen[0], place
                return statements_at(f"{place} = {chosen[1]}", statement)[0]
        return None

    def visit_Call(self, call: ast.Call) -> ast.expr:
        self.generic_visit(call)
        path, callee = "", call.func
        while isinstance(callee, ast.Attribute):
            path, callee = f".{callee.attr}{path}", callee.value
        chosen = self._places.get(callee.id) if isinstance(callee, ast.Name) else None
        chosen = chosen or self._chosen(callee)
        if chosen is None or self._before is None:
            return call
        name, place = chosen
        self._count += 1
        index, result = f"_index_{self._count}", f"_chosen_{self._count}"
        arguments = ast.unparse(ast.Call(ast.Name("f"), call.args, call.keywords))[1:]
        lines = [
            f"{index} = {place}",
            *_tree(
                index,
                0,
                self._lengths[name],
                lambda k: f"{result} = {self._self}.{name}[{k}]{path}{arguments}",
            ),
        ]
        self._before += statements_at("\n".join(lines), call)
        return ast.copy_location(ast.Name(result, ast.Load()), call)

    def _chosen(self, value: ast.expr) -> tuple[str, str] | None:
        """Return the list and the place of `self.experts[e]`, if the place is computed."""
        match value:
            case ast.Subscript(ast.Attribute(ast.Name(owner), name), place) if (
                owner == self._self and self._lengths.get(name) and not _is_literal(place)
            ):
                # Python counts a negative place from the end.
                return name, f"({ast.unparse(place)}) % {self._lengths[name]}"
        return None


def _is_literal(place: ast.expr) -> bool:
    if isinstance(place, ast.UnaryOp):
        place = place.operand
    return isinstance(place, ast.Constant | ast.Slice)


def _tree(index: str, first: int, end: int, leaf: _Make) -> list[str]:
    """Return statements that run the leaf of the number in the index, by halves."""
    if end - first == 1:
        return [leaf(first)]
    middle = (first + end) // 2
    return [
        f"if {index} < {middle}:",
        *("    " + line for line in _tree(index, first, middle, leaf)),
        "else:",
        *("    " + line for line in _tree(index, middle, end, leaf)),
    ]


def _names_only_called(definition: ast.FunctionDef) -> set[str]:
    """Return names that are assigned once, and then called or have their methods called."""
    stored: dict[str, int] = {}
    read: dict[str, int] = {}
    called: dict[str, int] = {}
    for node in ast.walk(definition):
        if isinstance(node, ast.Name):
            counts = read if isinstance(node.ctx, ast.Load) else stored
            counts[node.id] = counts.get(node.id, 0) + 1
        if isinstance(node, ast.Call):
            callee = node.func
            while isinstance(callee, ast.Attribute):
                callee = callee.value
            if isinstance(callee, ast.Name):
                called[callee.id] = called.get(callee.id, 0) + 1
    return {
        name for name, times in stored.items() if times == 1 and read.get(name) == called.get(name)
    }
