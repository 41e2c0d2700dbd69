"""Sizes of one dim in their simplest form.

Paddings to multiples on each level of a model give sizes of a hundred operations, such as
`(h + (4 - h % 4) % 4 - 4)//4 + 1`, with which torch computes for minutes. As a function of `h` most
are steps of one height and one length: `(h + 3)//4`.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

import sympy
from torch.fx.experimental.sym_node import SymNode
from torch.utils._sympy.functions import CeilToInt, FloorDiv, FloorToInt, TruncToInt

from modelexport_exporter.torch_internals.symbolic_sizes import as_python, sizes_of_symbols

Evaluate = Callable[[str, Mapping[str, range]], Any]
"""From an expression as Python and the sizes of its symbols to its values, an axis for each symbol;
None where it has none of integers."""
_MOST = (1 << 13, 1 << 20)
"""Combinations of sizes, of one dim and of several, at which an expression is evaluated: 5 ms."""


@contextmanager
def sizes_in_simple_form(evaluate: Evaluate) -> Iterator[None]:
    """Let sizes that are steps of one dim be that, while the block runs."""
    make = SymNode.__init__
    known: dict[tuple[Any, range], Any] = {}

    def init(self: Any, expr: Any, shape_env: Any, pytype: Any, *args: Any, **options: Any) -> None:  # noqa: ANN401
        if pytype is int and shape_env is not None and isinstance(expr, sympy.Expr):
            expr = _simplest(expr, shape_env, evaluate, known)
        make(self, expr, shape_env, pytype, *args, **options)

    with patch.object(SymNode, "__init__", init):
        yield


def _simplest(expr: Any, shape_env: Any, evaluate: Evaluate, known: dict[Any, Any]) -> Any:  # noqa: ANN401
    sizes = _sizes(expr, shape_env)
    if not sizes or math.prod(map(len, sizes.values())) > _MOST[len(sizes) > 1]:
        return expr
    key = (expr, *sizes.values())
    if key not in known:
        text = as_python(expr)
        values = evaluate(text[0], {str(own): sizes[own] for own in sizes}) if text else None
        known[key] = expr if values is None else _found(expr, values, sizes)
    return known[key]


def _sizes(expr: Any, shape_env: Any) -> dict[Any, range] | None:  # noqa: ANN401
    """Return the sizes of each symbol of an expression that is worth to be simplified."""
    if not expr.has(sympy.Function):
        return None
    symbols = sorted(expr.free_symbols, key=str)
    if len(symbols) > 1 and not expr.has(TruncToInt, CeilToInt, FloorToInt):
        return None
    return sizes_of_symbols(shape_env, symbols)


def _found(expr: Any, values: Any, sizes: Mapping[Any, range]) -> Any:  # noqa: ANN401
    """Return the steps of one symbol, or the symbol that an expression of several is."""
    if len(sizes) == 1:
        ((symbol, own),) = sizes.items()
        steps = steps_of([int(value) for value in values], own.start)
        return expr if steps is None else _written(symbol, *steps)
    for axis, (symbol, own) in enumerate(sizes.items()):
        first = values.take(0, axis)
        if first.min() == first.max() == own.start and all(
            (values.take(place, axis) == size).all() for place, size in enumerate(own)
        ):
            return symbol
    return expr


def steps_of(values: list[int], first: int) -> tuple[int, int, int, int] | None:
    """Return height, shift, length and offset of `height * ((n + shift)//length) + offset`.

    `values`: at n = first, first + 1, …; None where they are no such steps.
    """
    changes = [
        (first + place, values[place] - values[place - 1])
        for place in range(1, len(values))
        if values[place] != values[place - 1]
    ]
    if not changes:
        return 0, 0, 1, values[0]
    starts, heights = [start for start, _ in changes], {height for _, height in changes}
    lengths = {after - before for before, after in itertools.pairwise(starts)}
    if len(heights) > 1 or len(lengths) > 1:
        return None
    height, start = heights.pop(), starts[0]
    longest = max(start - first, first + len(values) - starts[-1])
    # Of a single step any length that is long enough is right: a power of 2 is the likeliest.
    length = lengths.pop() if lengths else 1 << (longest - 1).bit_length()
    if longest > length:
        return None
    shift = -start % length
    offset = values[0] - height * ((first + shift) // length)
    if offset % height == 0:
        shift, offset = shift + length * (offset // height), 0
    return height, shift, length, offset


def _written(symbol: Any, height: int, shift: int, length: int, offset: int) -> Any:  # noqa: ANN401
    steps = symbol + shift if length == 1 else FloorDiv(symbol + shift, length)
    return height * steps + offset
