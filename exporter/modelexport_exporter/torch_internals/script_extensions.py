"""`parts.extend(others)`, of which torch.onnx makes nothing: the list stays as it was.

It is compiled as `parts += others`, or as a loop over another list of tensors.
"""

from __future__ import annotations

import ast
from collections.abc import Collection

from modelexport_exporter.torch_internals.script_source import (
    appended_names,
    statements_at,
    stored_names,
)


def add_parts(definition: ast.FunctionDef) -> None:
    """Write the extensions of lists that the function makes as sums or loops."""
    made = stored_names(definition)
    _Extensions(made, made & appended_names(definition)).visit(definition)


class _Extensions(ast.NodeTransformer):
    def __init__(self, made: Collection[str], grown: Collection[str]) -> None:
        self._made = made
        """Lists of the function's own: another's would stay as it is."""
        self._grown = grown
        """Of how many elements, a loop decides: ONNX has no sum of sequences."""

    def visit_Expr(self, statement: ast.Expr) -> ast.AST:
        match statement.value:
            case ast.Call(ast.Attribute(ast.Name(name), "extend"), [part], []):
                # The compiler's own code crashes on `parts += parts`.
                if name in self._made and ast.unparse(part) != name:
                    return self._extended(name, part, statement)
        return statement

    def _extended(self, name: str, part: ast.expr, place: ast.Expr) -> ast.AST:
        others = ast.unparse(part)
        if isinstance(part, ast.Name) and others in self._grown:
            text = f"for _part in {others}:\n    {name}.append(_part)"
        else:
            text = f"{name} += {others}"
        (changed,) = statements_at(text, place)
        return changed
