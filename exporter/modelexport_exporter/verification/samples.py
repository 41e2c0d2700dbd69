"""Which inputs the artifact is verified on: a pure function of the spec.

Sizes: all dims at their minimum; all at a size in between (primes, a different one for each dim,
and none that the capture ran with, so that nothing swapped or baked in agrees by chance); each dim
alone at its maximum, and at its size in between, the others at their minimum; all at their maximum,
last, because it is the dearest (`budget` decides whether it fits).
Values: standard normal ones, large ones, zeros and the range's upper end; for models that run fast
also those of `more_samples`: branches on values are met on both sides. What `range` declares is
never left, and both of its ends occur.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

from modelexport_api.reasons import Reason
from modelexport_api.spec import Dim, DType, Input, ModelExportSpec
from modelexport_exporter.dims import capture_sizes, concrete_shape
from modelexport_exporter.failure import ExportFailure

Array = NDArray[Any]

LARGE_SCALE = 16.0
"""Standard deviation of large values: saturates sigmoid and softmax, overflows no float16 layer."""
SMALL_SCALE = 1e-2
"""Standard deviation of small values: most thresholds lie above."""

NUMPY_DTYPES: dict[DType, np.dtype[Any]] = {
    dtype: np.dtype(ml_dtypes.bfloat16 if dtype is DType.BFLOAT16 else dtype.value)
    for dtype in DType
    if dtype is not DType.STRING
}
FLOATS = {DType.FLOAT16, DType.BFLOAT16, DType.FLOAT32, DType.FLOAT64}


class Values(StrEnum):
    """What the elements of a sample are drawn from."""

    NORMAL = "normal"
    """Standard normal floats, or uniform ones inside `range`; uniform integers with both ends."""
    LARGE = "large"
    """Normal floats of a larger scale; with a `range`, its two ends mixed."""
    ZEROS = "zeros"
    """All zero, or what `range` allows nearest to it."""
    HIGHEST = "highest"
    """All at the upper end of `range`; 1 for floats without one."""
    LOWEST = "lowest"
    """All at the lower end of `range`; -1 for floats without one."""
    POSITIVE = "positive"
    """Magnitudes of normal floats; with a `range`, its upper half."""
    NEGATIVE = "negative"
    """Negated magnitudes of normal floats; with a `range`, its lower half."""
    SMALL = "small"
    """Normal floats of a small scale; with a `range`, normal ones again."""
    STREWN = "strewn"
    """Normal floats with -1, 0 and 1 strewn in: zeros beside values of both signs, and ties."""


BASIC = (Values.NORMAL, Values.LARGE, Values.ZEROS, Values.HIGHEST)
MORE = (
    Values.LOWEST,
    Values.POSITIVE,
    Values.NEGATIVE,
    Values.SMALL,
    Values.STREWN,
    Values.NORMAL,
    Values.LARGE,
    Values.NORMAL,
)
DEGENERATE = frozenset({Values.ZEROS, Values.HIGHEST, Values.LOWEST, Values.SMALL})
"""Constant or tiny inputs: what is centred vanishes, x - tanh(x) is what rounding left of it."""


@dataclass(frozen=True)
class Sample:
    """One set of inputs, before its elements are drawn."""

    dims: dict[str, int]
    values: Values
    seed: int


def plan_samples(spec: ModelExportSpec) -> tuple[Sample, ...]:
    """Return the samples in the order in which they are to be run, cheap and telling ones first."""
    lowest = {name: dim.min for name, dim in spec.dims.items()}
    between = sizes_between(spec.dims, avoided=capture_sizes(spec).values())
    highest = {name: dim.max for name, dim in spec.dims.items()}
    plan: list[tuple[dict[str, int], Values]] = []
    if lowest != between:
        plan += [(lowest, Values.NORMAL), (lowest, Values.NORMAL)]
    plan += [(between, Values.NORMAL)]
    plan += _unmet(plan, [{**lowest, name: highest[name]} for name in spec.dims])
    plan += [(between, values) for values in BASIC]
    plan += _unmet(plan, [{**lowest, name: between[name]} for name in spec.dims])
    plan += _unmet(plan, [highest])
    return tuple(Sample(sizes, values, seed) for seed, (sizes, values) in enumerate(plan))


def more_samples(spec: ModelExportSpec) -> tuple[Sample, ...]:
    """Return further samples of other values, for models that run in no time."""
    between = sizes_between(spec.dims, avoided=capture_sizes(spec).values())
    first = len(plan_samples(spec))
    return tuple(Sample(between, values, first + seed) for seed, values in enumerate(MORE))


def sizes_between(dims: Mapping[str, Dim], avoided: Iterable[int] = ()) -> dict[str, int]:
    """Return a size between minimum and maximum for each dim: primes, different from each other.

    `avoided`: sizes of the capture, at which a number that it fixed is right by chance.
    """
    chosen: dict[str, int] = {}
    taken = set(avoided)
    for name, dim in dims.items():
        chosen[name] = _size_between(dim, taken)
        taken.add(chosen[name])
    return chosen


def shrink(sample: Sample, dims: Mapping[str, Dim], factor: float) -> Sample | None:
    """Return the sample with one dim smaller, at most `factor` of its volume; None if none can be.

    The first dim in the order of declaration that has room is the one: usually the batch.
    """
    for name, dim in dims.items():
        size = math.floor(sample.dims[name] * factor)
        if max(dim.min, 1) < size < sample.dims[name]:
            return Sample({**sample.dims, name: size}, sample.values, sample.seed)
    return None


def volume(inputs: Sequence[Input], dims: Mapping[str, int]) -> int:
    """Return the number of elements of all inputs: what the work is taken to grow with."""
    return sum(math.prod(concrete_shape(entry, dims)) for entry in inputs)


def describe_sizes(dims: Mapping[str, int]) -> str:
    """Return `batch=7, seq=23`."""
    return ", ".join(f"{name}={size}" for name, size in dims.items()) or "the declared shapes"


def draw(inputs: Sequence[Input], sample: Sample) -> dict[str, Array]:
    """Return the arrays of a sample by the name of the input; the same for the same sample."""
    return {
        entry.name: _draw_one(entry, sample, np.random.default_rng([sample.seed, position]))
        for position, entry in enumerate(inputs)
    }


def _unmet(
    plan: Sequence[tuple[dict[str, int], Values]], candidates: Iterable[dict[str, int]]
) -> list[tuple[dict[str, int], Values]]:
    """Return those sizes, each once, that the plan does not meet yet, with normal values."""
    met = [sizes for sizes, _ in plan]
    unmet: list[dict[str, int]] = []
    for sizes in candidates:
        if sizes not in met and sizes not in unmet:
            unmet.append(sizes)
    return [(sizes, Values.NORMAL) for sizes in unmet]


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


def _draw_one(entry: Input, sample: Sample, rng: np.random.Generator) -> Array:
    shape = concrete_shape(entry, sample.dims)
    if entry.dtype in FLOATS:
        drawn = _floats(entry, sample.values, shape, rng)
        return np.asarray(drawn, dtype=NUMPY_DTYPES[entry.dtype])  # numpy makes 0-dim ones scalars
    low, high = integer_range(entry)
    return _integers(low, high, sample.values, shape, rng).astype(NUMPY_DTYPES[entry.dtype])


def _floats(
    entry: Input, values: Values, shape: tuple[int, ...], rng: np.random.Generator
) -> Array:
    if entry.range is None:
        return _unbounded_floats(values, shape, rng)
    limits = ml_dtypes.finfo(NUMPY_DTYPES[entry.dtype])  # type: ignore[no-untyped-call]
    low, high = (float(np.clip(end, limits.min, limits.max)) for end in entry.range)
    match values:
        case Values.LARGE:
            return _with_both_ends(np.where(rng.integers(0, 2, shape), high, low), low, high)
        case Values.ZEROS:
            return np.full(shape, np.clip(0.0, low, high))
        case Values.HIGHEST:
            return np.full(shape, high)
        case Values.LOWEST:
            return np.full(shape, low)
    middle = low / 2 + high / 2
    low = middle if values is Values.POSITIVE else low
    high = middle if values is Values.NEGATIVE else high
    part = rng.random(shape)
    drawn = np.clip(low * (1 - part) + high * part, low, high)
    if values is Values.STREWN:
        drawn = np.clip(_strewn(drawn, rng), low, high)
    return _with_both_ends(drawn, low, high)


def _strewn(drawn: Array, rng: np.random.Generator) -> Array:
    """Return the array with half of its elements replaced by -1, 0 or 1."""
    return np.where(rng.integers(0, 2, drawn.shape), drawn, rng.integers(-1, 2, drawn.shape))


def _unbounded_floats(values: Values, shape: tuple[int, ...], rng: np.random.Generator) -> Array:
    normal = np.asarray(rng.standard_normal(shape))
    made: dict[Values, Callable[[], Array]] = {
        Values.NORMAL: lambda: normal,
        Values.LARGE: lambda: np.asarray(normal * LARGE_SCALE),
        Values.SMALL: lambda: np.asarray(normal * SMALL_SCALE),
        Values.STREWN: lambda: _strewn(normal, rng),
        Values.POSITIVE: lambda: np.abs(normal),
        Values.NEGATIVE: lambda: -np.abs(normal),
        Values.ZEROS: lambda: np.zeros(shape),
        Values.HIGHEST: lambda: np.ones(shape),
        Values.LOWEST: lambda: -np.ones(shape),
    }
    return made[values]()


def _integers(
    low: int, high: int, values: Values, shape: tuple[int, ...], rng: np.random.Generator
) -> Array:
    match values:
        case Values.LARGE:
            ends = np.array([low, high], dtype=np.int64)
            return _with_both_ends(np.asarray(ends[rng.integers(0, 2, size=shape)]), low, high)
        case Values.ZEROS:
            return np.full(shape, min(max(0, low), high), dtype=np.int64)
        case Values.HIGHEST:
            return np.full(shape, high, dtype=np.int64)
        case Values.LOWEST:
            return np.full(shape, low, dtype=np.int64)
    middle = (low + high) // 2
    low = middle if values is Values.POSITIVE else low
    high = middle if values is Values.NEGATIVE else high
    drawn = rng.integers(low, high, size=shape, endpoint=True, dtype=np.int64)
    return _with_both_ends(np.asarray(drawn), low, high)


def _with_both_ends(array: Array, low: float, high: float) -> Array:
    """Put the lower end first and the upper end last, where there is room for both."""
    if array.size > 1:
        array.flat[0], array.flat[-1] = low, high
    return array


def integer_range(entry: Input) -> tuple[int, int]:
    """Return the smallest and largest integer that an input may hold; 0 and 1 without a range."""
    limits = (0, 1) if entry.dtype is DType.BOOL else _integer_limits(entry.dtype)
    declared = (0.0, 1.0) if entry.range is None else entry.range
    low = max(limits[0], _to_integer(declared[0], limits, math.ceil))
    high = min(limits[1], _to_integer(declared[1], limits, math.floor))
    if low > high:
        raise ExportFailure(
            Reason.INVALID_MANIFEST,
            f"input {entry.name}: no {entry.dtype.value} lies in the range "
            f"[{declared[0]:g}, {declared[1]:g}]",
            "Declare a range that the input's dtype can hold.",
        )
    return low, high


def _integer_limits(dtype: DType) -> tuple[int, int]:
    limits = np.iinfo(NUMPY_DTYPES[dtype])
    return int(limits.min), int(limits.max)


def _to_integer(end: float, limits: tuple[int, int], rounding: Callable[[float], int]) -> int:
    if math.isinf(end):
        return limits[1] if end > 0 else limits[0]
    return rounding(end)
