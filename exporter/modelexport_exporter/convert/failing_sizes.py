"""The sizes for which a condition is false, of all combinations that dims allow.

A rule such as `n * m == 7989967` holds for 2 of 16 million pairs. The condition, which torch
printed as Python, is evaluated on whole arrays of sizes.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Sequence
from types import CodeType, SimpleNamespace
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

Array = NDArray[Any]

MOST_AT_ONCE = 1 << 20
MOST_EVALUATED = 1 << 24
"""Combinations at which a condition is evaluated."""
MOST_SLOWLY = 20_000
"""The same one by one, where it cannot be evaluated on arrays."""
MOST_KEPT = 4096
"""Combinations that are kept of each part."""


def failing_sizes(
    expression: str, symbols: Sequence[str], sizes: Sequence[Sequence[int]]
) -> list[tuple[int, ...]]:
    """Return combinations of sizes for which an expression of these symbols is false.

    `sizes`: of each symbol, in an order of which any beginning is spread over them.
    """
    each = _share(MOST_EVALUATED, sizes)
    try:
        return _on_arrays(_for_arrays(expression), symbols, [own[:each] for own in sizes])
    except (TypeError, ValueError, NameError, AttributeError):
        each = _share(MOST_SLOWLY, sizes)
        return _one_by_one(expression, symbols, [own[:each] for own in sizes])


def _share(most: int, sizes: Sequence[Sequence[int]]) -> int:
    """Return how many sizes of each dim are tried, so that there are no more combinations."""
    total = math.prod(len(own) for own in sizes)
    if total <= most:
        return max(len(own) for own in sizes)
    return max(2, int(most ** (1 / len(sizes))))


def _on_arrays(
    code: CodeType, symbols: Sequence[str], sizes: Sequence[Sequence[int]]
) -> list[tuple[int, ...]]:
    rows, *others = (np.array(own, np.int64) for own in sizes)
    count = max(1, MOST_AT_ONCE // math.prod(len(own) for own in others))
    failing: list[tuple[int, ...]] = []
    for begin in range(0, len(rows), count):
        part = [rows[begin : begin + count], *others]
        values = dict(zip(symbols, np.ix_(*part), strict=True))
        with np.errstate(all="ignore"):
            # torch's own printer wrote the text, from a condition of the program.
            holds = eval(code, {**_FUNCTIONS, **values})  # noqa: S307
        shape = tuple(len(own) for own in part)
        places = np.argwhere(~np.broadcast_to(np.asarray(holds, bool), shape))
        if len(places) > 2 * MOST_KEPT:
            places = np.concatenate([places[:MOST_KEPT], places[-MOST_KEPT:]])
        failing += [
            tuple(int(own[place]) for own, place in zip(part, at, strict=True)) for at in places
        ]
    return failing


def _one_by_one(
    expression: str, symbols: Sequence[str], sizes: Sequence[Sequence[int]]
) -> list[tuple[int, ...]]:
    code = compile(expression, "<condition>", "eval")
    grid = np.stack(np.meshgrid(*sizes, indexing="ij"), -1).reshape(-1, len(sizes)).tolist()
    names = {"math": math, "torch": torch}
    return [
        tuple(chosen)
        for chosen in grid
        if not eval(code, {**names, **dict(zip(symbols, chosen, strict=True))})  # noqa: S307
    ]


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


_FUNCTIONS = {
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
