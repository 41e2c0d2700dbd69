"""`reversed(parts)` and `parts.reverse()`, which torch.jit.script does not compile.

They are compiled as a loop over places, from the last one down.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Sequence

from modelexport_exporter.torch_internals.script_source import (
    expression_at,
    statements_at,
    stored_names,
)


def count_down(definition: ast.FunctionDef) -> None:
    """Write the function's reversals as loops over places."""
    _Places(stored_names(definition)).visit(definition)


class _Places(ast.NodeTransformer):
    def __init__(self, made: Collection[str]) -> None:
        self._made = made
        """Lists of the function's own: another's would stay as it is."""
        self._count = 0

    def visit_For(self, loop: ast.For) -> ast.AST:
        parts = _reversed(loop.iter)
        if parts is None and not _changes_what_it_takes(loop):
            loop.iter = self.visit(loop.iter)
        for statements in (loop.body, loop.orelse):
            statements[:] = self._visited(statements)
        if isinstance(parts, ast.Name) and not _changes(parts.id, loop.body):
            self._count += 1
            place, taken = f"_place_{self._count}", ast.unparse(loop.target)
            (given,) = statements_at(f"{taken} = {parts.id}[{place}]", loop)
            loop.body = [given, *loop.body]
            loop.target = ast.copy_location(ast.Name(place, ast.Store()), loop)
            loop.iter = expression_at(f"range(len({parts.id}) - 1, -1, -1)", loop)
            return loop
        backwards = _backwards(parts)
        if backwards:
            loop.iter = expression_at(backwards, loop)
        return loop

    def _visited(self, statements: Sequence[ast.stmt]) -> list[ast.stmt]:
        visited: list[ast.stmt] = []
        for statement in statements:
            found = self.visit(statement)
            visited.extend(found if isinstance(found, list) else [found])
        return visited

    def visit_Call(self, call: ast.Call) -> ast.AST:
        self.generic_visit(call)
        match call:
            case ast.Call(ast.Name("list"), [ast.ListComp() as made], []):
                return made
            case ast.Call(ast.Name("reversed"), [ast.Name(name)], []):
                places = f"range(len({name}) - 1, -1, -1)"
                return expression_at(f"[{name}[_place] for _place in {places}]", call)
        return call

    def visit_Expr(self, statement: ast.Expr) -> ast.AST | list[ast.stmt]:
        match statement.value:
            case ast.Call(ast.Attribute(ast.Name(name), "reverse"), [], []) if name in self._made:
                places = f"range(len({name}) - 1, -1, -1)"
                return statements_at(f"{name} = [{name}[_place] for _place in {places}]", statement)
        return statement


def _reversed(iterated: ast.expr) -> ast.expr | None:
    match iterated:
        case ast.Call(ast.Name("reversed"), [parts], []):
            return parts
    return None


def _backwards(parts: ast.expr | None) -> str:
    """Return the range that counts down through one of step 1; empty for anything else."""
    match parts:
        case ast.Call(ast.Name("range"), [end], []):
            return f"range(({ast.unparse(end)}) - 1, -1, -1)"
        case ast.Call(ast.Name("range"), [first, end], []):
            return f"range(({ast.unparse(end)}) - 1, ({ast.unparse(first)}) - 1, -1)"
    return ""


def _changes_what_it_takes(loop: ast.For) -> bool:
    """Return whether the body changes a list that `enumerate(reversed(parts))` walks through."""
    taken = [
        parts.id
        for node in ast.walk(loop.iter)
        if isinstance(node, ast.Call) and isinstance(parts := _reversed(node), ast.Name)
    ]
    return any(_changes(name, loop.body) for name in taken)


def _changes(name: str, body: Sequence[ast.stmt]) -> bool:
    """Return whether statements assign the name, or call a method of it that may change it."""
    for node in (node for statement in body for node in ast.walk(statement)):
        match node:
            case ast.Name(found, ast.Store() | ast.Del()) if found == name:
                return True
            case ast.Attribute(ast.Name(found)) if found == name:
                return True
            case ast.Subscript(ast.Name(found), _, ast.Store() | ast.Del()) if found == name:
                return True
    return False
