"""The sizes at which shapes are compared, the likeliest to differ first: pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations, islice, zip_longest

from modelexport_api.spec import Dim, ModelExportSpec
from modelexport_exporter.core.dims import DimSizes, in_spread_order, is_dynamic, likely_sizes

MOST_SIZES = 4096
"""Combinations of sizes at most."""
MOST_EQUAL = 64
"""Equal sizes of two dims."""


def sizes_left(
    spec: ModelExportSpec, ran: Sequence[Mapping[str, int]], named: Sequence[int] = ()
) -> list[dict[str, int]]:
    """Return each size of each dim that did not run, the others between; then equal ones of two.

    None where all sizes of all dims ran: equal ones ran before.
    """
    others = DimSizes.of(spec).between
    dims = {name: dim for name, dim in spec.dims.items() if is_dynamic(dim)}
    left = [
        [size for size in _ordered(dim, named) if size not in {own.get(name) for own in ran}]
        for name, dim in dims.items()
    ]
    if not any(left):
        return []
    alone = list(islice(_alone(list(dims), left, others), MOST_SIZES))
    known = {tuple(own.items()) for own in alone} | {
        tuple((name, own.get(name)) for name in others) for own in ran
    }
    equal = (own for own in _equal(dims, others) if tuple(own.items()) not in known)
    return [*alone, *islice(equal, MOST_SIZES - len(alone))]


def _ordered(dim: Dim, named: Sequence[int]) -> list[int]:
    return list(dict.fromkeys((*likely_sizes(dim, named), *in_spread_order(dim))))


def _alone(
    names: Sequence[str], left: Sequence[Sequence[int]], others: Mapping[str, int]
) -> Iterator[dict[str, int]]:
    for together in zip_longest(*left):
        for name, size in zip(names, together, strict=True):
            if size is not None:
                yield {**others, name: size}


def _equal(dims: Mapping[str, Dim], others: Mapping[str, int]) -> Iterator[dict[str, int]]:
    for one, other in combinations(dims, 2):
        low = max(dims[one].min, dims[other].min)
        high = min(dims[one].max, dims[other].max)
        common = in_spread_order(Dim(min=low, max=high)) if low <= high else []
        for size in common[:MOST_EQUAL]:
            yield {**others, one: size, other: size}
