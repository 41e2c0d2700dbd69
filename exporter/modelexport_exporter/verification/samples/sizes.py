"""Which inputs the artifact is verified on: a pure function of the spec.

Sizes: all dims at their minimum; all at a size in between (primes, a different one for each dim,
and none that the capture ran with, so that nothing swapped or baked in agrees by chance); each dim
alone at its maximum, and at its size in between, the others at their minimum; all at their maximum,
last, because it costs most (`budget` decides whether it fits).
Values: standard normal, large, zeros and the range's upper end; for models that run fast also those
of `more_samples`, so that branches on values take both sides and a size that is halved or rounded
has every remainder.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence

from modelexport_api.spec import Dim, Input, ModelExportSpec
from modelexport_exporter.core.dims import capture_sizes, concrete_shape
from modelexport_exporter.core.sample import Sample, Values

BASIC = (Values.NORMAL, Values.LARGE, Values.ZEROS, Values.HIGHEST)
MORE = (
    Values.SMALL_INTEGERS,
    Values.REPEATED,
    Values.LOWEST,
    Values.POSITIVE,
    Values.NEGATIVE,
    Values.SMALL,
    Values.WITH_NAN,
    Values.NORMAL,
    Values.LARGE,
    Values.NORMAL,
)
"""The most informative ones first: the time budget may end before the last."""
CONSECUTIVE = 8
"""Number of consecutive sizes: a size that is halved or rounded differs by its remainder."""


def plan_samples(spec: ModelExportSpec) -> tuple[Sample, ...]:
    """Return the samples in the order in which they run, cheap and informative ones first."""
    lowest = {name: dim.min for name, dim in spec.dims.items()}
    between = sizes_between(spec.dims, avoided=capture_sizes(spec).values())
    highest = {name: dim.max for name, dim in spec.dims.items()}
    plan: list[tuple[dict[str, int], Values]] = []
    if lowest != between:
        plan += [(lowest, Values.NORMAL), (lowest, Values.NORMAL)]
    plan += [(between, Values.NORMAL)]
    plan += _missing(plan, [{**lowest, name: highest[name]} for name in spec.dims])
    plan += [(between, values) for values in BASIC]
    plan += _missing(plan, [{**lowest, name: between[name]} for name in spec.dims])
    plan += _missing(plan, [highest])
    return tuple(Sample(sizes, values, seed) for seed, (sizes, values) in enumerate(plan))


def samples_of_weights(spec: ModelExportSpec) -> tuple[Sample, ...]:
    """Return the samples for other weights in a graph that was verified on all of `plan_samples`.

    A weight that is missing, swapped, stale or baked in differs at any size, so each kind of values
    runs once, at small sizes. Errors that depend on sizes were found with the first weights.
    """
    lowest = {name: dim.min for name, dim in spec.dims.items()}
    between = sizes_between(spec.dims, avoided=capture_sizes(spec).values())
    plan = [(lowest, Values.NORMAL), (between, Values.NORMAL), (between, Values.LARGE)]
    plan += [(lowest, Values.ZEROS), (lowest, Values.HIGHEST)]
    return tuple(Sample(sizes, values, seed) for seed, (sizes, values) in enumerate(plan))


def more_samples(spec: ModelExportSpec) -> tuple[Sample, ...]:
    """Return further samples, for models that run fast: other values, consecutive sizes."""
    between = sizes_between(spec.dims, avoided=capture_sizes(spec).values())
    plan = [(between, values) for values in MORE]
    planned = [sample.dims for sample in plan_samples(spec)]
    for step in range(1, CONSECUTIVE):
        sizes = {name: min(size + step, spec.dims[name].max) for name, size in between.items()}
        if sizes not in [*planned, *(dims for dims, _ in plan)]:
            plan.append((sizes, Values.NORMAL))
    first = len(planned)
    return tuple(Sample(sizes, values, first + seed) for seed, (sizes, values) in enumerate(plan))


def sizes_between(dims: Mapping[str, Dim], avoided: Iterable[int] = ()) -> dict[str, int]:
    """Return a size between minimum and maximum for each dim: primes, different from each other.

    `avoided`: sizes of the capture, at which a number that it fixed agrees by chance.
    """
    chosen: dict[str, int] = {}
    taken = set(avoided)
    for name, dim in dims.items():
        chosen[name] = _size_between(dim, taken)
        taken.add(chosen[name])
    return chosen


def shrink(sample: Sample, dims: Mapping[str, Dim], factor: float) -> Sample | None:
    """Return the sample with one dim smaller, at most `factor` of its volume; None if none can be.

    The first dim in the order of declaration that can be smaller is taken: usually the batch.
    """
    for name, dim in dims.items():
        size = math.floor(sample.dims[name] * factor)
        if max(dim.min, 1) < size < sample.dims[name]:
            return Sample({**sample.dims, name: size}, sample.values, sample.seed)
    return None


def volume(inputs: Sequence[Input], dims: Mapping[str, int]) -> int:
    """Return the number of elements of all inputs, which cost is assumed to grow with."""
    return sum(math.prod(concrete_shape(entry, dims)) for entry in inputs)


def describe_sizes(dims: Mapping[str, int]) -> str:
    """Return `batch=7, seq=23`; `the declared shapes` without dims."""
    return ", ".join(f"{name}={size}" for name, size in dims.items()) or "the declared shapes"


def _missing(
    plan: Sequence[tuple[dict[str, int], Values]], candidates: Iterable[dict[str, int]]
) -> list[tuple[dict[str, int], Values]]:
    """Return those sizes, each once, that the plan does not have yet, with normal values."""
    planned = [sizes for sizes, _ in plan]
    missing: list[dict[str, int]] = []
    for sizes in candidates:
        if sizes not in planned and sizes not in missing:
            missing.append(sizes)
    return [(sizes, Values.NORMAL) for sizes in missing]


def _size_between(dim: Dim, taken: set[int]) -> int:
    """Return the prime nearest to the geometric mean that no other dim has taken, if there is one.

    The geometric mean keeps the sample small: 23 for 1..512.
    """
    middle = round(math.sqrt(max(dim.min, 1) * dim.max))
    fallback = min(max(middle, dim.min), dim.max)
    first_prime: int | None = None
    for size in _outward(middle, dim.min + 1, dim.max - 1):
        if _is_prime(size):
            if size not in taken:
                return size
            first_prime = size if first_prime is None else first_prime
    return fallback if first_prime is None else first_prime


def _outward(middle: int, low: int, high: int) -> Iterator[int]:
    """Yield the integers of [low, high] by their distance from the middle, 1000 at most."""
    for distance in range(1000):
        for size in {middle - distance, middle + distance}:
            if low <= size <= high:
                yield size


def _is_prime(number: int) -> bool:
    return number > 1 and all(number % divisor for divisor in range(2, math.isqrt(number) + 1))
