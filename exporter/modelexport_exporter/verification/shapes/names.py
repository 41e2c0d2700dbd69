"""Names a size of an output after the dims of the inputs, from what runs returned: pure.

An expression is accepted only if it fits every run, and if each of its dims took enough different
sizes to exclude chance: two for the dim itself, three for an expression with constants.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import combinations

from modelexport_exporter.verification.shapes.expressions import evaluate

Observation = tuple[Mapping[str, int], int]
"""The sizes of the inputs' dims in a run, and the size of the output's dim."""
SIZES_OF_DIM = 2
SIZES_OF_EXPRESSION = 3
LARGEST_FACTOR = 64
"""`64*n` and `n//64` are names, `1000*n` is rather a coincidence."""


def name_of(observations: Sequence[Observation]) -> str | None:
    """Return `n`, `2*n`, `n + 1`, `n//2`, `n + m` or `n*m`; None if none fits, or two dims do."""
    if len({size for _, size in observations}) < SIZES_OF_DIM:
        return None
    dims = list(observations[0][0])
    own = [dim for dim in dims if _fits(dim, [dim], observations, SIZES_OF_DIM)]
    if own:
        return own[0] if len(own) == 1 else None
    fitting = [
        text
        for text, used in _expressions(dims, observations)
        if _fits(text, used, observations, SIZES_OF_EXPRESSION)
    ]
    return fitting[0] if len(fitting) == 1 else None


def _fits(
    text: str, used: Sequence[str], observations: Sequence[Observation], different: int
) -> bool:
    enough = all(len({sizes.get(dim) for sizes, _ in observations}) >= different for dim in used)
    return enough and all(evaluate(text, sizes) == size for sizes, size in observations)


def _expressions(
    dims: Sequence[str], observations: Sequence[Observation]
) -> Iterator[tuple[str, list[str]]]:
    """Yield expressions that may fit, each with its dims."""
    for dim in dims:
        linear = _linear(dim, observations)
        if linear:
            yield linear, [dim]
        else:
            for text in _divided(dim, observations):
                yield text, [dim]
    for one, other in combinations(dims, 2):
        yield f"{one} + {other}", [one, other]
        yield f"{one}*{other}", [one, other]


def _linear(dim: str, observations: Sequence[Observation]) -> str | None:
    """Return the line through the ends of the dim's sizes, as `2*n + 1`."""
    points = sorted((sizes[dim], size) for sizes, size in observations if dim in sizes)
    if not points or points[0][0] == points[-1][0]:
        return None
    (low, first), (high, last) = points[0], points[-1]
    factor = Fraction(last - first, high - low)
    offset = first - factor * low
    if factor.denominator != 1 or not 1 <= factor <= LARGEST_FACTOR:
        return None
    scaled = dim if factor == 1 else f"{factor}*{dim}"
    if offset == 0:
        return scaled
    return f"{scaled} {'+' if offset > 0 else '-'} {abs(offset)}"


def _divided(dim: str, observations: Sequence[Observation]) -> list[str]:
    """Return `n//2` or `(n + 1)//2`: the divisor is that of the largest size."""
    largest, size = max((sizes.get(dim, 0), size) for sizes, size in observations)
    if size < 1:
        return []
    divisor = round(largest / size)
    if not 1 < divisor <= LARGEST_FACTOR:
        return []
    return [f"{dim}//{divisor}", f"({dim} + {divisor - 1})//{divisor}"]
