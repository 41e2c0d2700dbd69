"""A condition that forward sets on what it is called with, and how a spec says so."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from modelexport_api.spec import Dim
from modelexport_exporter.core.dims import in_spread_order

Sizes = Mapping[str, int]
Accepts = Callable[[Sizes], bool]

_MOST_SIZES = 40


@dataclass(frozen=True)
class Limit:
    """A condition on sizes or values that forward sets, and how the spec says so."""

    condition: str
    """`n from 9 on`"""
    advice: str
    """`Set dims.n.min: 9.`"""


def listed(names: Sequence[str]) -> str:
    """Return `a, b and c`."""
    return " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))


def spread(dim: Dim) -> list[int]:
    """Return the sizes of a dim to try: all of a small range, a spread of a large one."""
    return in_spread_order(dim)[:_MOST_SIZES]


def other_sizes(dims: Mapping[str, Dim], refused: Sizes, most: int) -> Iterator[Sizes]:
    """Yield other declared sizes, smaller ones first: each dim has another one where it may."""
    for place in range(most):
        sizes = dict(refused)
        for name, size in refused.items():
            other = sorted(one for one in spread(dims[name]) if one != size)[place:]
            sizes[name] = other[0] if other else size
        if sizes != refused:
            yield sizes
