"""What a loop's body assigns, changes and appends to, and whether it can be a function's. Pure."""

from __future__ import annotations

import ast
import math
from collections.abc import Iterable, Iterator, Sequence

_CHANGES = {"append", "extend"}
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
NOT_IN_A_FUNCTION = (
    ast.Return,
    ast.Yield,
    ast.YieldFrom,
    ast.Await,
    ast.Delete,
    ast.Global,
    ast.Nonlocal,
)


def own_nodes(nodes: Sequence[ast.AST]) -> Iterator[ast.AST]:
    """Yield these nodes and all in them, without what functions within them are made of."""
    for node in nodes:
        yield node
        if not isinstance(node, FUNCTIONS):
            yield from own_nodes(list(ast.iter_child_nodes(node)))


def name_of(node: ast.AST) -> str | None:
    """Return the variable that an expression is; None for other expressions."""
    return node.id if isinstance(node, ast.Name) else None


def can_be_a_function(node: ast.For) -> bool:
    """Return whether the body of a loop can be a function's."""
    parts = list(own_nodes(node.body))
    inner = [own for own in parts if isinstance(own, ast.For | ast.While)]
    within = {part for loop in inner for part in ast.walk(loop)}
    leaves = (ast.Break, ast.Continue)
    stays = any(isinstance(own, leaves) and own not in within for own in parts)
    scoped = any(isinstance(own, NOT_IN_A_FUNCTION) for own in parts)
    elsewhere = any(name_of(own.value) is None for own in _appends(parts))
    return not (node.orelse or stays or scoped or elsewhere or asks_for_its_class(parts))


def asks_for_its_class(nodes: Sequence[ast.AST]) -> bool:
    """Return whether one of the nodes is `super` or `__class__`, which only a method knows."""
    return any(isinstance(own, ast.Name) and own.id in {"super", "__class__"} for own in nodes)


def assigned(statements: Sequence[ast.stmt]) -> set[str]:
    """Return the variables that statements assign, or whose value they may change."""
    names = set(stored(statements)) | appended(statements)
    for own in own_nodes(statements):
        if isinstance(own, ast.Subscript) and isinstance(own.ctx, ast.Store):
            names.add(name_of(own.value) or "")
        if isinstance(own, ast.Call) and isinstance(own.func, ast.Attribute):
            method = own.func.attr
            if method.endswith("_") and not method.startswith("_"):
                names.add(name_of(own.func.value) or "")
    return names - {"", "self", "cls"}


def fresh(statements: Sequence[ast.stmt]) -> set[str]:
    """Return the variables that statements assign, whatever they held, before they read them."""
    found: set[str] = set()
    seen: set[str] = set()
    for own in statements:
        inside = {part.id for part in ast.walk(own) if isinstance(part, ast.Name)}
        assigned_here = set(stored(own.targets)) if isinstance(own, ast.Assign) else set()
        value = own.value if isinstance(own, ast.Assign) else own
        read = {part.id for part in ast.walk(value) if isinstance(part, ast.Name)}
        found |= assigned_here - seen - read
        seen |= inside
    return found


def appended(statements: Sequence[ast.stmt]) -> set[str]:
    """Return the variables to which statements append."""
    joined = {
        name_of(own.target) or ""
        for own in own_nodes(statements)
        if isinstance(own, ast.AugAssign) and isinstance(own.value, ast.List)
    }
    return ({name_of(own.value) or "" for own in _appends(own_nodes(statements))} | joined) - {""}


def _appends(nodes: Iterable[ast.AST]) -> Iterator[ast.Attribute]:
    for own in nodes:
        called = own.func if isinstance(own, ast.Call) else None
        if isinstance(called, ast.Attribute) and called.attr in _CHANGES:
            yield called


def stored(nodes: Sequence[ast.AST]) -> Iterator[str]:
    """Yield the variables that are assigned, without those of comprehensions."""
    for node in nodes:
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
        elif isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield node.name
        elif not isinstance(node, (*FUNCTIONS, *_COMPREHENSIONS)):
            yield from stored(list(ast.iter_child_nodes(node)))


def loads(function: ast.FunctionDef) -> Iterator[tuple[str, float]]:
    """Yield each name that is used, and the line: of one in an inner function, any line."""
    for own in ast.walk(function):
        if isinstance(own, ast.Name) and isinstance(own.ctx, ast.Load):
            yield own.id, own.lineno
        elif own is not function and isinstance(own, FUNCTIONS):
            inner = (part for part in ast.walk(own) if isinstance(part, ast.Name))
            yield from ((part.id, math.inf) for part in inner)
