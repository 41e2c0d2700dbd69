"""Conditions on sizes that hold at every declared size, and that torch cannot prove.

A convolution and a slice that both halve a length give `(n - 3)//2 + 1` and `(n - 1)//2`: torch
takes such sizes for different ones, assumes that they are equal where the example says so, and the
assumption has to be proven in the end. Where the declared ranges are finite, all sizes can be
tried instead.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import wraps
from typing import Any
from unittest.mock import patch

import sympy
from torch.fx.experimental.symbolic_shapes import ShapeEnv
from torch.utils._sympy.functions import Max, Min

from modelexport_exporter.torch_internals.symbolic_sizes import as_python, sizes_of_symbols

Decide = Callable[[str, Mapping[str, range]], bool | None]
"""From a condition as Python and the sizes of its symbols to its truth; None where it differs."""

_OF_LINES = (sympy.Add, sympy.Integer, sympy.Symbol, Min, Max)
_FAR = 10**9
_MOST = 50_000
"""Combinations of sizes that are tried for a condition: a few milliseconds."""


@contextmanager
def conditions_at_all_sizes(decide: Decide) -> Iterator[None]:
    """Let torch know conditions that `decide` finds to be the same at all sizes."""
    own = ShapeEnv._maybe_evaluate_static  # noqa: SLF001
    known: dict[Any, bool | None] = {}

    # torch clears the cache of the function.
    @wraps(own)
    def evaluate(self: ShapeEnv, expression: Any, **options: Any) -> Any:  # noqa: ANN401
        if not options and isinstance(expression, sympy.logic.boolalg.Boolean):
            sizes = sizes_of_symbols(self, expression.free_symbols)
            if sizes and math.prod(map(len, sizes.values())) <= _MOST:
                key = (expression, tuple(sizes.items()))
                if key not in known:
                    known[key] = _decided(decide, expression, sizes)
                if known[key] is not None:
                    return sympy.true if known[key] else sympy.false
        found = own(self, expression, **options)
        if found is None and options.keys() <= {"size_oblivious"}:
            return _without_bound(self, decide, expression)
        return found

    with patch.object(ShapeEnv, "_maybe_evaluate_static", evaluate):
        yield


def _without_bound(environment: ShapeEnv, decide: Decide, expression: Any) -> Any:  # noqa: ANN401
    """Return the truth of a condition on one number without a bound; None if it is not known.

    As that of rows that values select: `u0 - Min(1, u0) >= 0`. A sum of minima and maxima is made
    of lines, which meet below twice the sum of its constants, each with the factors around it; from
    there on its sign stays.
    """
    if not _is_of_lines(expression):
        return None
    symbols = expression.free_symbols
    parts = list(sympy.preorder_traversal(expression))
    constants = [abs(int(one)) for one in parts if isinstance(one, sympy.Integer)]
    factors = [abs(int(one.args[0])) for one in parts if isinstance(one, sympy.Mul)]
    steps = 2 * (sum(constants) + 1) * math.prod(max(own, 1) for own in factors)
    if len(symbols) != 1 or steps > _MOST:
        return None
    (symbol,) = symbols
    bounds = environment.var_to_range.get(symbol)
    if bounds is None or not isinstance(bounds.lower, sympy.Integer):
        return None
    low = int(bounds.lower)
    near, far = range(low, low + steps), range(_FAR, _FAR + 1)
    truths = {_decided(decide, expression, {symbol: own}) for own in (near, far)}
    if len(truths) > 1 or None in truths:
        return None
    return sympy.true if truths.pop() else sympy.false


def _is_of_lines(expression: Any) -> bool:  # noqa: ANN401
    """Return whether a comparison has sums, minima, maxima and multiples of a symbol only."""
    if not isinstance(expression, sympy.core.relational.Relational):
        return False
    for part in sympy.preorder_traversal(expression):
        if isinstance(part, sympy.Mul):
            if len(part.args) > 2 or not part.args[0].is_Integer:  # noqa: PLR2004 - a factor, a part
                return False
        elif part is not expression and not isinstance(part, _OF_LINES):
            return False
    return True


def _decided(decide: Decide, expression: Any, sizes: Mapping[Any, range]) -> bool | None:  # noqa: ANN401
    text = as_python(expression)
    return decide(text[0], {str(own): sizes[own] for own in sizes}) if text else None


@contextmanager
def conditions_narrow_no_size() -> Iterator[None]:
    """Let conditions that hold at the example's sizes change no other size, while the block runs.

    A captured program has all of its conditions. Where it is traced again, torch still decides by
    the example (whether a picture of 1 x 2 pixels is stored channels last), and would take the
    height for 1 from there on. Conditions on numbers without a value are kept.
    """
    own = ShapeEnv.evaluate_expr

    def evaluate(self: ShapeEnv, expression: Any, *args: Any, **options: Any) -> Any:  # noqa: ANN401
        backed = self.backed_var_to_val
        if not all(symbol in backed for symbol in getattr(expression, "free_symbols", ())):
            return own(self, expression, *args, **options)
        with self.suppress_guards():
            return own(self, expression, *args, **options)

    with patch.object(ShapeEnv, "evaluate_expr", evaluate):
        yield
