"""Conditions on sizes, as torch prints them in Python: evaluated on whole arrays of sizes."""

from __future__ import annotations

import ast
import math
from collections.abc import Mapping
from types import CodeType, SimpleNamespace
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

Array = NDArray[Any]


def holds(expression: str, sizes: Mapping[str, Array]) -> Array:
    """Return where a condition is true, for arrays of sizes by symbol that broadcast.

    Raises TypeError, ValueError, NameError or AttributeError for what only single sizes allow.
    """
    shape = np.broadcast_shapes(*(array.shape for array in sizes.values()))
    with np.errstate(all="ignore"):
        # torch's own printer wrote the text, from a condition of the program.
        found = eval(_for_arrays(expression), {**FUNCTIONS, **sizes})  # noqa: S307
    return np.broadcast_to(np.asarray(found, bool), shape)


def at_all_sizes(expression: str, sizes: Mapping[str, range]) -> bool | None:
    """Return the truth of a condition at all combinations of sizes; None where it differs."""
    values = _evaluated(expression, sizes)
    if values is None:
        return None
    found = values.astype(bool)
    return bool(found.flat[0]) if found.all() or not found.any() else None


def values_at(expression: str, sizes: Mapping[str, range]) -> Array | None:
    """Return the values of an expression, an axis for each size; None where it has no integers."""
    values = _evaluated(expression, sizes)
    return values if values is not None and values.dtype.kind == "i" else None


def _evaluated(expression: str, sizes: Mapping[str, range]) -> Array | None:
    """Return the values at all combinations; None for what only single sizes allow."""
    axes = np.meshgrid(*sizes.values(), indexing="ij", sparse=True)
    known = {**FUNCTIONS, **dict(zip(sizes, axes, strict=True))}
    try:
        with np.errstate(all="ignore"):
            # torch's own printer wrote the text.
            found = eval(_for_arrays(expression), known)  # noqa: S307
    except (TypeError, ValueError, NameError, AttributeError, ZeroDivisionError):
        return None
    return np.broadcast_to(np.asarray(found), [len(own) for own in sizes.values()])


def compiled(expression: str) -> CodeType:
    """Return the condition for `holds_at`."""
    return compile(expression, "<condition>", "eval")


def holds_at(condition: CodeType, sizes: Mapping[str, int]) -> bool:
    """Return whether a condition is true at one size of each symbol."""
    names = {"math": math, "torch": torch}
    return bool(eval(condition, {**names, **sizes}))  # noqa: S307 - see above


class _OnArrays(ast.NodeTransformer):
    """Replaces what Python does with a single truth value."""

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.expr:
        self.generic_visit(node)
        return _call("_all" if isinstance(node.op, ast.And) else "_any", node.values)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.expr:
        self.generic_visit(node)
        return _call("_not", [node.operand]) if isinstance(node.op, ast.Not) else node

    def visit_IfExp(self, node: ast.IfExp) -> ast.expr:
        self.generic_visit(node)
        return _call("_where", [node.test, node.body, node.orelse])


def _call(name: str, arguments: list[ast.expr]) -> ast.Call:
    return ast.Call(ast.Name(name, ast.Load()), arguments, [])


def _for_arrays(expression: str) -> CodeType:
    tree = _OnArrays().visit(ast.parse(expression, mode="eval"))
    return compile(ast.fix_missing_locations(tree), "<condition>", "eval")


def _as_integers(values: Any) -> Array:  # noqa: ANN401 - an array or a number
    return np.asarray(values).astype(np.int64)


FUNCTIONS = {
    "math": SimpleNamespace(
        floor=lambda x: _as_integers(np.floor(x)),
        ceil=lambda x: _as_integers(np.ceil(x)),
        trunc=lambda x: _as_integers(np.trunc(x)),
        sqrt=np.sqrt,
        log2=np.log2,
        log=np.log,
        exp=np.exp,
        pow=np.power,
    ),
    "torch": SimpleNamespace(sym_float=lambda x: np.asarray(x).astype(np.float64)),
    "abs": np.abs,
    "round": lambda x: _as_integers(np.rint(x)),
    "float": lambda x: np.asarray(x).astype(np.float64),
    "int": lambda x: _as_integers(np.trunc(x)),
    "max": lambda *x: np.max(np.broadcast_arrays(*x), axis=0),
    "min": lambda *x: np.min(np.broadcast_arrays(*x), axis=0),
    "_all": lambda *x: np.all(np.broadcast_arrays(*x), axis=0),
    "_any": lambda *x: np.any(np.broadcast_arrays(*x), axis=0),
    "_not": np.logical_not,
    "_where": np.where,
}
