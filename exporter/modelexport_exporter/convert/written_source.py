"""Changed source of functions: what both writers of it need, of loops and of choices. Pure."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from typing import TypeVar

Node = TypeVar("Node", bound=ast.AST)
PREFIX = "_modelexport_"
"""Of all names in written source."""


def as_list(statements: ast.AST | list[ast.stmt]) -> list[ast.stmt]:
    """Return what a visitor puts in place of a statement as a list."""
    return statements if isinstance(statements, list) else [statements]  # type: ignore[list-item]


def call(name: str, arguments: Sequence[ast.expr]) -> ast.Call:
    """Return a call of a function by its name."""
    return ast.Call(ast.Name(name, ast.Load()), list(arguments), [])


def at(node: Node, place: ast.AST) -> Node:
    """Return the node, with the place of another for those parts that have none."""
    for own in ast.walk(node):
        if not hasattr(own, "lineno") and isinstance(own, ast.expr | ast.stmt | ast.arg):
            ast.copy_location(own, place)
    return node


def filled(
    template: str, argument: ast.expr, parts: Mapping[str, list[ast.stmt]], place: ast.AST
) -> list[ast.stmt]:
    """Return the template's statements, at the place of another, with `parts` by their names.

    `argument`: the only one of the call that the first statement assigns.
    """
    statements = ast.parse(template).body
    for own in (part for statement in statements for part in ast.walk(statement)):
        ast.copy_location(own, place)
    first = statements[0]
    assert isinstance(first, ast.Assign)
    assert isinstance(first.value, ast.Call)
    first.value.args = [argument]
    return [_Filled(parts).visit(own) for own in statements]


class _Filled(ast.NodeTransformer):
    """Puts statements in place of names."""

    def __init__(self, parts: Mapping[str, list[ast.stmt]]) -> None:
        self._parts = parts

    def visit_Expr(self, node: ast.Expr) -> ast.AST | list[ast.stmt]:
        name = node.value.id if isinstance(node.value, ast.Name) else ""
        return self._parts.get(name, node)
