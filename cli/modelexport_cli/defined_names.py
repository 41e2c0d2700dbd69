"""Which names a Python module defines, from its text: nothing is imported.

Conservative: where code may define a name in a way that its text does not show, all is possible.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

_REFLECTION = {"globals", "vars", "locals", "setattr", "exec", "eval", "modules", "__getattr__"}
_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)


@dataclass(frozen=True)
class Names:
    """The names of a module."""

    own: tuple[str, ...]
    """Functions and classes that it defines, in order."""
    all: frozenset[str]
    """These, imported ones and variables, also those that are set under a condition."""
    complete: bool
    """Whether it can have no others."""

    def lacks(self, name: str) -> bool:
        """Return whether the module certainly has no such name."""
        return self.complete and name not in self.all


def names_in(source: bytes) -> Names:
    """Return the names that a module defines. Raises SyntaxError or ValueError."""
    tree = ast.parse(source)
    own: list[str] = []
    found: set[str] = set()
    for node in _at_top(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            own.append(node.name)
        found.update(_bound(node))
    for node in ast.walk(tree):
        if isinstance(node, ast.Global):
            found.update(node.names)
    complete = not any(_may_define_more(node) for node in ast.walk(tree))
    return Names(tuple(own), frozenset(found.union(own)), complete)


def _at_top(tree: ast.AST) -> Iterator[ast.AST]:
    """Yield the nodes outside of functions and classes."""
    for node in ast.iter_child_nodes(tree):
        yield node
        if not isinstance(node, _SCOPES):
            yield from _at_top(node)


def _bound(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
        yield node.id
    elif isinstance(node, ast.Import | ast.ImportFrom):
        yield from (entry.asname or entry.name.partition(".")[0] for entry in node.names)
    elif isinstance(node, ast.ExceptHandler | ast.MatchAs | ast.MatchStar) and node.name:
        yield node.name


def _may_define_more(node: ast.AST) -> bool:
    if isinstance(node, ast.ImportFrom):
        return any(entry.name == "*" for entry in node.names)
    if isinstance(node, ast.FunctionDef):
        return node.name in _REFLECTION
    if isinstance(node, ast.Attribute):
        return node.attr in _REFLECTION
    return isinstance(node, ast.Name) and node.id in _REFLECTION
