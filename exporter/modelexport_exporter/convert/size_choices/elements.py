"""An `if` that assigns elements of local lists, as one that assigns whole lists.

`if h % 2: padding[1] = 1` changes a list in place. On each side of a choice `padding` becomes a
list of its own, `padding = _modelexport_with_element(padding, 1, 1)`, and what both sides are as
one is written back into the list that is there, which may have other names, too.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from modelexport_exporter.convert.size_loops.bodies import name_of
from modelexport_exporter.convert.size_loops.source import SET
from modelexport_exporter.convert.written_source import at, call

WITH_ELEMENT = "_modelexport_with_element"


def with_element(values: Any, place: Any, value: Any) -> list[Any]:  # noqa: ANN401
    """Return a list with another element at the place. Raises TypeError for what is no list."""
    if type(values) is not list or type(place) is not int:
        raise TypeError
    changed = [*values]
    changed[place] = value
    return changed


def is_element(target: ast.expr) -> bool:
    """Return whether a target is an element of what has a name, at a place without a call."""
    return (
        isinstance(target, ast.Subscript)
        and isinstance(target.value, ast.Name)
        and not any(
            isinstance(own, ast.Call | ast.Slice | ast.Tuple | ast.NamedExpr)
            for own in ast.walk(target.slice)
        )
    )


def names_of_lists(statements: Sequence[ast.stmt]) -> list[str]:
    """Return the names of which elements are assigned."""
    found = map(_element, statements)
    return sorted({element.name for element in found if element is not None})


def names_of_others(statements: Sequence[ast.stmt]) -> list[str]:
    """Return the names that are assigned themselves."""
    rest = [own for own in statements if _element(own) is None]
    return sorted({name for own in rest for name in stored(own)})


def stored(node: ast.AST) -> Iterator[str]:
    """Yield the names that a part of the source assigns."""
    for own in ast.walk(node):
        if isinstance(own, ast.Name) and isinstance(own.ctx, ast.Store):
            yield own.id


def of_whole_lists(statements: Sequence[ast.stmt]) -> list[ast.stmt]:
    """Return copies of the statements that assign lists, not elements."""
    return [_assigned(copy.deepcopy(own)) for own in statements]


@dataclass(frozen=True)
class _Element:
    name: str
    place: ast.expr
    value: ast.expr


def _element(statement: ast.stmt) -> _Element | None:
    """Return what `name[place] = value` assigns, or a call that the writer of loops made of it."""
    if isinstance(statement, ast.AugAssign):
        return _increased(statement)
    if not isinstance(statement, ast.Assign) or len(statement.targets) > 1:
        return None
    target, value = statement.targets[0], statement.value
    if isinstance(target, ast.Subscript) and isinstance(target.value, ast.Name):
        return _Element(target.value.id, target.slice, value)
    if isinstance(value, ast.Call) and name_of(value.func) == SET and isinstance(target, ast.Name):
        return _Element(target.id, value.args[1], value.args[2])
    return None


def _increased(statement: ast.AugAssign) -> _Element | None:
    target = statement.target
    if not isinstance(target, ast.Subscript) or not isinstance(target.value, ast.Name):
        return None
    name, place = target.value.id, target.slice
    old = ast.Subscript(ast.Name(name, ast.Load()), copy.deepcopy(place), ast.Load())
    return _Element(name, place, ast.BinOp(old, statement.op, statement.value))


def _assigned(statement: ast.stmt) -> ast.stmt:
    element = _element(statement)
    if element is None:
        return statement
    name = element.name
    whole = call(WITH_ELEMENT, [ast.Name(name, ast.Load()), element.place, element.value])
    return at(ast.Assign([ast.Name(name, ast.Store())], whole), statement)
