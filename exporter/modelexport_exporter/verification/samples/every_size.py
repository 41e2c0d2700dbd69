"""Every size of every dim, in an order of which any beginning is spread over the range: pure.

A branch on `n == 50`, or a size that is rounded, is wrong at few sizes: a model that runs in a
millisecond is compared at each of them, another at as many as the budget allows. The other dims are
at random sizes, since a formula may need two of them together. Dims that may be equal, or the
double of another, are made so. After that come many rows, as long as time is left.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, combinations, count, islice, permutations, product, zip_longest

import numpy as np

from modelexport_api.spec import Dim, ModelExportSpec
from modelexport_exporter.core.dims import DimSizes, in_spread_order, is_dynamic, likely_sizes
from modelexport_exporter.core.sample import Sample, Values
from modelexport_exporter.verification.samples.sizes import volume

FIRST_SEED = 1000
"""Above the seeds of all other samples."""
KEPT = 8
"""Of the sizes of a dim, those that are met while the others are at their sizes in between."""
EQUAL_SIZES = 8
"""Number of sizes that two dims have together."""
DOUBLE_SIZES = 3
"""Number of sizes at which a dim is the double of another, or one more."""
MANY_ROWS = 48
"""Samples of all dims at their maximum, after all sizes: what one row of 1,000 shows."""
LARGEST_ROWS = 4096
"""Elements of the inputs of such samples."""
NAMED_TOGETHER = 64
"""Number of sizes that two dims have together of numbers that the model names."""
MOST_COMBINATIONS = 1 << 16
"""Combinations of sizes of all dims, all of them or random ones."""


def every_size(
    spec: ModelExportSpec, named: Sequence[int] = (), compared: Sequence[int] = ()
) -> Iterator[Sample]:
    """Yield samples with each dim at each of its sizes, and pairs of dims at equal ones.

    `compared`: numbers that the file compares with, which come first; `named`: other numbers of the
    model.
    """
    dims = {name: dim for name, dim in spec.dims.items() if is_dynamic(dim)}
    others = DimSizes.of(spec).between
    numbers = tuple(dict.fromkeys((*compared, *named)))
    related, further = _related(dims, spec)
    swept = zip_longest(further, *_sweeps(dims, others, numbers))
    sizes = chain(
        _named_together(dims, others, compared),
        related,
        _named_together(dims, others, named) if set(named) - set(compared) else (),
        (own for step in swept for own in step if own is not None),
    )
    seeds = count(FIRST_SEED)
    for own in sizes:
        yield Sample(own, Values.NORMAL, next(seeds))
    highest = DimSizes.of(spec).highest
    for seed in islice(seeds, MANY_ROWS) if volume(spec.inputs, highest) <= LARGEST_ROWS else ():
        yield Sample(highest, Values.NORMAL, seed)


def likely_alone(
    spec: ModelExportSpec, ran: Sequence[Mapping[str, int]], named: Sequence[int] = ()
) -> Iterator[Sample]:
    """Yield samples with each dim alone at its likely sizes that did not run.

    The others are at their minimum: for models of which not all sizes can be run. The values of a
    size do not depend on the others that are likely.
    """
    lowest = DimSizes.of(spec).lowest
    met = {name: {sizes.get(name) for sizes in ran} for name in lowest}
    left = [
        [(name, size) for size in likely_sizes(spec.dims[name], named) if size not in met[name]]
        for name in lowest
    ]
    together = (own for several in zip_longest(*left) for own in several if own is not None)
    for name, size in together:
        yield Sample({**lowest, name: size}, Values.NORMAL, FIRST_SEED + size)


def _sweeps(
    dims: Mapping[str, Dim], others: Mapping[str, int], named: Sequence[int]
) -> list[Iterator[dict[str, int]]]:
    return [_sweep(dims, others, named, name) for name in dims]


def _sweep(
    dims: Mapping[str, Dim], others: Mapping[str, int], named: Sequence[int], swept: str
) -> Iterator[dict[str, int]]:
    """Yield all sizes of a dim; the others are in between at first, then at random."""
    random = np.random.default_rng(list(dims).index(swept))
    ordered = dict.fromkeys((*likely_sizes(dims[swept], named), *in_spread_order(dims[swept])))
    for step, size in enumerate(ordered):
        kept = others if step < KEPT else _random_sizes(dims, others, random)
        yield {**kept, swept: size}


def _random_sizes(
    dims: Mapping[str, Dim], others: Mapping[str, int], random: np.random.Generator
) -> dict[str, int]:
    """Return sizes of all dims that are uniform in their logarithm: small ones cost less."""
    sizes = dict(others)
    for name, dim in dims.items():
        low, high = math.log(max(dim.min, 1)), math.log(dim.max)
        sizes[name] = max(round(math.exp(random.uniform(low, high))), dim.min)
    return sizes


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


def _related(
    dims: Mapping[str, Dim], spec: ModelExportSpec
) -> tuple[list[dict[str, int]], list[dict[str, int]]]:
    """Return sizes at which two dims are equal, one is the double of the other, or one more.

    First one of each kind, the smallest, then further ones.
    """
    sizes = DimSizes.of(spec)
    kinds = [
        [
            {**sizes.between, one: size, other: size}
            for size in _common(dims[one], dims[other])[:EQUAL_SIZES]
        ]
        for one, other in combinations(dims, 2)
    ]
    kinds += [
        [
            {**sizes.lowest, one: size, other: factor * size + more}
            for size in in_spread_order(dims[one])
            if dims[other].min <= factor * size + more <= dims[other].max
        ][:DOUBLE_SIZES]
        for one, other in permutations(dims, 2)
        for factor, more in ((2, 0), (1, 1))
    ]
    further = zip_longest(*(kind[1:] for kind in kinds))
    return (
        [kind[0] for kind in kinds if kind],
        [own for step in further for own in step if own is not None],
    )


def _common(one: Dim, other: Dim) -> list[int]:
    """Return the sizes that two dims may both have."""
    low, high = max(one.min, other.min), min(one.max, other.max)
    return in_spread_order(Dim(min=low, max=high)) if low <= high else []


def describe_coverage(
    spec: ModelExportSpec,
    ran: Iterable[Mapping[str, int]],
    further: Mapping[str, str] | None = None,
) -> list[str]:
    """Return `all 120 sizes of n`, `41 of 512 sizes of seq; shapes at all`, for each dynamic dim.

    `further`: what was compared at other sizes of a dim, by its name.
    """
    met: dict[str, set[int]] = {name: set() for name, dim in spec.dims.items() if is_dynamic(dim)}
    for sizes in ran:
        for name, found in met.items():
            if name in sizes:
                found.add(sizes[name])
    sentences = []
    for name, found in met.items():
        total = spec.dims[name].max - spec.dims[name].min + 1
        share = f"all {total}" if len(found) == total else f"{len(found)} of {total}"
        more = (further or {}).get(name)
        sentences.append(f"{share} sizes of {name}" + (f"; {more}" if more else ""))
    return sentences
