"""Every size of every dim, in an order of which any beginning is spread over the range: pure.

A branch on `n == 50`, or a size that is rounded, is wrong at few sizes: a model that runs in a
millisecond is compared at each of them, another at as many as the budget allows. Dims that may be
equal are made so.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import combinations, count, islice, product, zip_longest

import numpy as np

from modelexport_api.spec import Dim, ModelExportSpec
from modelexport_exporter.core.dims import DimSizes, in_spread_order, is_dynamic
from modelexport_exporter.core.sample import Sample, Values

FIRST_SEED = 1000
"""Above the seeds of all other samples."""
EQUAL_SIZES = 8
"""Number of sizes that two dims have together."""
NAMED_TOGETHER = 64
"""Number of sizes that two dims have together of numbers that the model names."""
MOST_COMBINATIONS = 1 << 16
"""Combinations of sizes of all dims, all of them or random ones."""


def every_size(spec: ModelExportSpec, named: Sequence[int] = ()) -> Iterator[Sample]:
    """Yield samples with each dim at each of its sizes, and pairs of dims at equal ones.

    The other dims are at their size in between. `named`: numbers that the model compares with;
    they come first.
    """
    dims = {name: dim for name, dim in spec.dims.items() if is_dynamic(dim)}
    others = DimSizes.of(spec).between
    sweeps = [
        [{**others, name: size} for size in _likeliest_first(dim, named)]
        for name, dim in dims.items()
    ]
    seeds = count(FIRST_SEED)
    for sizes in _named_together(dims, others, named):
        yield Sample(sizes, Values.NORMAL, next(seeds))
    for together in zip_longest(_equal_sizes(dims, others), *sweeps):
        for sizes in together:
            if sizes is not None:
                yield Sample(sizes, Values.NORMAL, next(seeds))


def sizes_together(spec: ModelExportSpec) -> Iterator[Sample]:
    """Yield samples of all combinations of sizes in a random order; random ones if there are many.

    None for a single dim, of which `every_size` yields all sizes.
    """
    dims = {name: dim for name, dim in spec.dims.items() if is_dynamic(dim)}
    if len(dims) < 2:  # noqa: PLR2004 - a combination
        return
    others = DimSizes.of(spec).between
    counts = [dim.max - dim.min + 1 for dim in dims.values()]
    total, random = math.prod(counts), np.random.default_rng(0)
    numbers = random.permutation(total) if total <= MOST_COMBINATIONS else None
    for place in range(min(total, MOST_COMBINATIONS)):
        number = int(random.integers(total)) if numbers is None else int(numbers[place])
        sizes = dict(others)
        for (name, dim), several in zip(dims.items(), counts, strict=True):
            number, step = divmod(number, several)
            sizes[name] = dim.min + step
        yield Sample(sizes, Values.NORMAL, FIRST_SEED + place)


def _named_together(
    dims: Mapping[str, Dim], others: Mapping[str, int], named: Sequence[int]
) -> Iterator[dict[str, int]]:
    """Yield sizes of two dims that are both numbers of the model."""
    for one, other in combinations(dims, 2):
        sizes = [
            [
                number
                for number in dict.fromkeys(named)
                if dims[name].min <= number <= dims[name].max
            ]
            for name in (one, other)
        ]
        for first, second in islice(product(*sizes), NAMED_TOGETHER):
            yield {**others, one: first, other: second}


def _likeliest_first(dim: Dim, named: Sequence[int]) -> list[int]:
    """Return all sizes of a dim: next to numbers of the model, and to powers of two, first.

    Kernels work in blocks of powers of two.
    """
    powers = [2**power for power in range(dim.max.bit_length() + 1)]
    near = [number + step for number in (*named, *powers) for step in (0, 1, -1)]
    first = [size for size in near if dim.min <= size <= dim.max]
    return list(dict.fromkeys((*first, *in_spread_order(dim))))


def _equal_sizes(dims: Mapping[str, Dim], others: Mapping[str, int]) -> list[dict[str, int]]:
    equal = []
    for one, other in combinations(dims, 2):
        low = max(dims[one].min, dims[other].min)
        high = min(dims[one].max, dims[other].max)
        if low <= high:
            sizes = in_spread_order(Dim(min=low, max=high))[:EQUAL_SIZES]
            equal += [{**others, one: size, other: size} for size in sizes]
    return equal


def describe_coverage(spec: ModelExportSpec, ran: Iterable[Mapping[str, int]]) -> list[str]:
    """Return `all 120 sizes of n`, `41 of 512 sizes of seq`: one sentence for each dynamic dim."""
    met: dict[str, set[int]] = {name: set() for name, dim in spec.dims.items() if is_dynamic(dim)}
    for sizes in ran:
        for name, found in met.items():
            if name in sizes:
                found.add(sizes[name])
    sentences = []
    for name, found in met.items():
        total = spec.dims[name].max - spec.dims[name].min + 1
        share = f"all {total}" if len(found) == total else f"{len(found)} of {total}"
        sentences.append(f"{share} sizes of {name}")
    return sentences
