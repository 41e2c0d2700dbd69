"""Which inputs the artifact is verified on: a pure function of the spec.

Sizes: all dims at their minimum; all at a size in between (primes, a different one for each dim,
and none that the capture ran with, so that nothing swapped or baked in agrees by chance); each dim
alone at its maximum, at its size in between, and in the middle (257 of 1..512), the others at their
minimum; all at their maximum, last, because it costs most (`budget` decides whether it fits).
Values: standard normal, large, zeros and the range's upper end; for models that run fast also those
of `more_samples`, so that branches on values take both sides and a size that is halved or rounded
has every remainder.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

from modelexport_api.spec import Input, ModelExportSpec
from modelexport_exporter.core.dims import DimSizes, concrete_shape, middle_of
from modelexport_exporter.core.sample import ORDINARY, Sample, Values

BASIC = (
    Values.NORMAL,
    Values.LARGE,
    Values.ZEROS,
    Values.HIGHEST,
    Values.LOWEST,
    Values.MAGNITUDES,
    Values.CONSTANT,
)
LARGER = (Values.NORMAL, Values.MAGNITUDES, Values.LOWEST, Values.CONSTANT, Values.HIGHEST)
"""What dims at their maximum run with, one after the other: silence may be long, too."""
MORE = (
    Values.SMALL_INTEGERS,
    Values.REPEATED,
    Values.POSITIVE,
    Values.NEGATIVE,
    Values.SMALL,
    *(Values.WITH_NAN, Values.WITH_INFINITY) * 2,
    Values.LIMITS,
    Values.ORDERED,
    Values.ONE_HOT,
    Values.STEPS,
    Values.ALIKE,
    Values.FAR,
    Values.COPIES,
    Values.OFFSET,
    Values.NORMAL,
    Values.LARGE,
    Values.NORMAL,
)
"""The most informative ones first: the time budget may end before the last."""
AT_HIGHEST = (
    Values.LOWEST,
    Values.HIGHEST,
    Values.ONE_HOT,
    Values.STEPS,
    Values.FAR,
    *(Values.WITH_NAN, Values.ORDERED) * 2,
    Values.REPEATED,
    Values.COPIES,
    Values.OFFSET,
    Values.WITH_INFINITY,
)
"""What dims at their maximum run with together: many rows, and many places in each."""
MOST_SPARSE = 12
"""Samples of many sparse rows: one rule for one place is met by one row in fifty."""
MOST_VALUES = 1 << 19
"""Elements of the inputs that a kind of values needs at most: three pictures of 224 × 224."""
CONSECUTIVE = 8
"""Number of consecutive sizes: a size that is halved or rounded differs by its remainder."""


def plan_samples(spec: ModelExportSpec) -> tuple[Sample, ...]:
    """Return the samples in the order in which they run, cheap and informative ones first."""
    sizes = DimSizes.of(spec)
    lowest, between, highest = sizes.lowest, sizes.between, sizes.highest
    plan: list[tuple[dict[str, int], Values]] = []
    if lowest != between:
        plan += [(lowest, Values.NORMAL), (lowest, Values.NORMAL)]
    plan += [(between, Values.NORMAL)]
    larger = _missing(plan, [{**lowest, name: highest[name]} for name in lowest])
    plan += [(dims, LARGER[place % len(LARGER)]) for place, (dims, _) in enumerate(larger)]
    few = _with_fewer_values(spec, between)
    plan += [(between, values) if values in ORDINARY else (few, values) for values in BASIC]
    plan += [(lowest, Values.WITH_NAN), (lowest, Values.WITH_INFINITY)]
    alone = [{**lowest, name: between[name]} for name in lowest]
    alone += [{**lowest, name: middle_of(dim)} for name, dim in spec.dims.items()]
    plan += _missing(plan, alone)
    plan += _missing(plan, [highest])
    return tuple(Sample(dims, values, seed) for seed, (dims, values) in enumerate(plan))


def samples_of_weights(spec: ModelExportSpec) -> tuple[Sample, ...]:
    """Return the samples for other weights in a graph that was verified on all of `plan_samples`.

    A weight that is missing, swapped, stale or baked in differs at any size, so each kind of values
    runs once, at small sizes. Errors that depend on sizes were found with the first weights.
    """
    sizes = DimSizes.of(spec)
    lowest, between = sizes.lowest, sizes.between
    plan = [(lowest, Values.NORMAL), (between, Values.NORMAL), (between, Values.LARGE)]
    plan += [(lowest, Values.ZEROS), (lowest, Values.HIGHEST)]
    return tuple(Sample(dims, values, seed) for seed, (dims, values) in enumerate(plan))


def more_samples(spec: ModelExportSpec) -> tuple[Sample, ...]:
    """Return further samples, for models that run fast: other values, consecutive sizes."""
    dims = DimSizes.of(spec)
    plan = [(dims.between, values) for values in MORE]
    planned = [sample.dims for sample in plan_samples(spec)]
    for step in range(1, CONSECUTIVE):
        sizes = {name: min(size + step, dims.highest[name]) for name, size in dims.between.items()}
        if sizes not in [*planned, *(met for met, _ in plan)]:
            plan.append((sizes, Values.NORMAL))
    plan += [(dims.highest, values) for values in AT_HIGHEST]
    plan += [(sizes, Values.DRIFTING) for sizes in (dims.between, dims.highest) * 2]
    plan += [(dims.highest, Values.SMALL)] * 2
    plan += [(sizes, Values.SPARSE) for sizes in (dims.between, *[dims.highest] * MOST_SPARSE)]
    first = len(planned)
    return tuple(Sample(dims, values, first + seed) for seed, (dims, values) in enumerate(plan))


def shrink(sample: Sample, lowest: Mapping[str, int], factor: float) -> Sample | None:
    """Return the sample with one dim smaller, at most `factor` of its volume; None if none can be.

    The first dim in the order of declaration that can be smaller is taken: usually the batch.
    """
    for name, low in lowest.items():
        size = math.floor(sample.dims[name] * factor)
        if max(low, 1) < size < sample.dims[name]:
            return Sample({**sample.dims, name: size}, sample.values, sample.seed)
    return None


def _with_fewer_values(spec: ModelExportSpec, sizes: dict[str, int]) -> dict[str, int]:
    """Return sizes with at most MOST_VALUES elements, or with one dim just above its minimum.

    The first dim in the order of declaration that can be smaller is taken: usually the batch.
    """
    factor = MOST_VALUES / max(volume(spec.inputs, sizes), 1)
    for name, low in DimSizes.of(spec).lowest.items():
        size = max(math.floor(sizes[name] * factor), low + 1)
        if size < sizes[name]:
            return {**sizes, name: size}
    return sizes


def volume(inputs: Sequence[Input], dims: Mapping[str, int]) -> int:
    """Return the number of elements of all inputs, which cost is assumed to grow with."""
    return sum(math.prod(concrete_shape(entry, dims)) for entry in inputs)


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
