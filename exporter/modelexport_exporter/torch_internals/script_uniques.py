"""`x.unique()`, a method that torch.jit.script does not know, as the function `torch.unique(x)`.

The method `unique_consecutive` returns three tensors there, whatever is asked.
"""

from __future__ import annotations

import ast

_NAMES = frozenset({"unique", "unique_consecutive"})


def call_functions(definition: ast.FunctionDef) -> None:
    """Write the methods without options as functions."""
    for node in ast.walk(definition):
        match node:
            case ast.Call(ast.Attribute(ast.expr() as x, name), [], []) if name in _NAMES and not (
                isinstance(x, ast.Name) and x.id == "torch"
            ):
                torch = ast.copy_location(ast.Name("torch", ast.Load()), node)
                node.func = ast.copy_location(ast.Attribute(torch, name, ast.Load()), node.func)
                node.args = [x]
