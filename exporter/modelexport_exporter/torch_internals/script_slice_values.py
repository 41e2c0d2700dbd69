"""Slices that are kept in variables, `rows = slice(top, top + 8)`, which torch.jit.script has not.

Their bounds are kept instead, and written where the variable is an index.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Mapping

from modelexport_exporter.torch_internals.script_source import expression_at, statements_at

_BOUNDS = ("_start", "_stop", "_step")


def write_bounds(definition: ast.FunctionDef) -> None:
    """Write variables that are only ever slices, and only ever indices, as their bounds."""
    stored = _assigned(definition)
    lengths = {name: {len(_bounds(one)) for one in values} for name, values in stored.items()}
    slices = {name: max(own) for name, own in lengths.items() if len(own) == 1 and 0 not in own}
    elsewhere = _read_elsewhere(definition, slices)
    _Bounds({name: own for name, own in slices.items() if name not in elsewhere}).visit(definition)


def _assigned(definition: ast.FunctionDef) -> dict[str, list[ast.expr | None]]:
    """Return what each variable is assigned; None for what is no simple assignment."""
    found: dict[str, list[ast.expr | None]] = {}
    simple: set[int] = set()
    for node in ast.walk(definition):
        for name, value in _pairs(node):
            found.setdefault(name.id, []).append(value)
            simple.add(id(name))
    for node in ast.walk(definition):
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            if id(node) not in simple:
                found.setdefault(node.id, []).append(None)
        elif isinstance(node, ast.arg):
            found.setdefault(node.arg, []).append(None)
    return found


def _pairs(node: ast.AST) -> list[tuple[ast.Name, ast.expr]]:
    """Return the variables and their values, if the statement assigns variables only."""
    match node:
        case ast.Assign([ast.Name() as name], value):
            return [(name, value)]
        case ast.Assign([ast.Tuple(targets)], ast.Tuple(values)) if len(targets) == len(values):
            names = [target for target in targets if isinstance(target, ast.Name)]
            return list(zip(names, values, strict=True)) if len(names) == len(targets) else []
    return []


def _bounds(value: ast.expr | None) -> list[ast.expr]:
    """Return start, stop and step of a call of `slice` that has at least the first two."""
    match value:
        case ast.Call(ast.Name("slice"), [start, stop], []):
            return [start, stop]
        case ast.Call(ast.Name("slice"), [start, stop, step], []):
            return [start, stop, step]
    return []


def _read_elsewhere(definition: ast.FunctionDef, slices: Collection[str]) -> set[str]:
    """Return those that are read where no index is."""
    indices = {
        id(index)
        for node in ast.walk(definition)
        if isinstance(node, ast.Subscript)
        for index in (node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice])
    }
    return {
        node.id
        for node in ast.walk(definition)
        if isinstance(node, ast.Name)
        and isinstance(node.ctx, ast.Load)
        and node.id in slices
        and id(node) not in indices
    }


class _Bounds(ast.NodeTransformer):
    def __init__(self, slices: Mapping[str, int]) -> None:
        self._slices = slices
        """How many bounds each of them has."""

    def visit_Assign(self, node: ast.Assign) -> ast.AST | list[ast.stmt]:
        pairs = _pairs(node)
        if not any(name.id in self._slices for name, _ in pairs):
            return self.generic_visit(node)
        targets, values = [], []
        for name, value in pairs:
            bounds = _bounds(value) if name.id in self._slices else []
            targets += [name.id + end for end in _BOUNDS[: len(bounds)]] or [name.id]
            values += [ast.unparse(bound) for bound in bounds] or [ast.unparse(value)]
        return statements_at(f"{', '.join(targets)} = {', '.join(values)}", node)

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        self.generic_visit(node)
        if isinstance(node.slice, ast.Tuple):
            node.slice.elts = [self._index(index) for index in node.slice.elts]
        else:
            node.slice = self._index(node.slice)
        return node

    def _index(self, index: ast.expr) -> ast.expr:
        bounds = _bounds(index)
        if isinstance(index, ast.Name) and index.id in self._slices:
            ends = _BOUNDS[: self._slices[index.id]]
            bounds = [expression_at(index.id + end, index) for end in ends]
        return ast.copy_location(ast.Slice(*bounds), index) if bounds else index
