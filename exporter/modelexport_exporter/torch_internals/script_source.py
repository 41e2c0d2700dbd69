"""Source that is written into functions before torch.jit.script compiles them."""

from __future__ import annotations

import ast


def expression_at(text: str, place: ast.AST) -> ast.expr:
    """Return the expression as if it stood at a place of the user's file."""
    expression = ast.parse(text, mode="eval").body
    _locate(expression, place)
    return expression


def statements_at(text: str, place: ast.AST) -> list[ast.stmt]:
    """Return the statements as if they stood at a place of the user's file."""
    statements = ast.parse(text).body
    for statement in statements:
        _locate(statement, place)
    return statements


def stored_names(definition: ast.FunctionDef) -> set[str]:
    """Return the names that the function assigns."""
    return {
        node.id
        for node in ast.walk(definition)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    }


def appended_names(definition: ast.FunctionDef) -> set[str]:
    """Return the names of lists that the function appends to."""
    return {
        node.func.value.id
        for node in ast.walk(definition)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr == "append"
        and isinstance(node.func.value, ast.Name)
    }


def _locate(tree: ast.AST, place: ast.AST) -> None:
    for node in ast.walk(tree):
        ast.copy_location(node, place)
