"""The sizes for which a condition is false, of all combinations that dims allow.

A rule such as `n * m == 7989967` holds for 2 of 16 million pairs.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from modelexport_exporter.convert.size_expressions import compiled, holds, holds_at

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
    try:
        return _on_arrays(expression, symbols, shares_of(sizes, MOST_EVALUATED))
    except (TypeError, ValueError, NameError, AttributeError):
        return _one_by_one(expression, symbols, shares_of(sizes, MOST_SLOWLY))


def shares_of(sizes: Sequence[Sequence[int]], most: int) -> list[Sequence[int]]:
    """Return the beginning of each list of sizes, so that there are at most `most` combinations."""
    if math.prod(len(own) for own in sizes) <= most:
        return list(sizes)
    each = max(2, int(most ** (1 / len(sizes))))
    return [own[:each] for own in sizes]


def _on_arrays(
    expression: str, symbols: Sequence[str], sizes: Sequence[Sequence[int]]
) -> list[tuple[int, ...]]:
    rows, *others = (np.array(own, np.int64) for own in sizes)
    count = max(1, MOST_AT_ONCE // math.prod(len(own) for own in others))
    failing: list[tuple[int, ...]] = []
    for begin in range(0, len(rows), count):
        part = [rows[begin : begin + count], *others]
        true = holds(expression, dict(zip(symbols, np.ix_(*part), strict=True)))
        places = np.argwhere(~true)
        if len(places) > 2 * MOST_KEPT:
            places = np.concatenate([places[:MOST_KEPT], places[-MOST_KEPT:]])
        failing += [
            tuple(int(own[place]) for own, place in zip(part, at, strict=True)) for at in places
        ]
    return failing


def _one_by_one(
    expression: str, symbols: Sequence[str], sizes: Sequence[Sequence[int]]
) -> list[tuple[int, ...]]:
    condition = compiled(expression)
    grid = np.stack(np.meshgrid(*sizes, indexing="ij"), -1).reshape(-1, len(sizes)).tolist()
    return [
        tuple(chosen)
        for chosen in grid
        if not holds_at(condition, dict(zip(symbols, chosen, strict=True)))
    ]
