"""Draws the arrays of a sample, reproducibly: the same sample gives the same arrays.

Elements are within the declared `range`, and both of its ends occur.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

from modelexport_api.reasons import Reason
from modelexport_api.spec import DType, Input
from modelexport_exporter.core.dims import concrete_shape
from modelexport_exporter.core.errors import ExportFailure
from modelexport_exporter.core.sample import Sample, Values
from modelexport_exporter.sampling.magnitudes import (
    has_limits_inside,
    near_limits,
    spread_floats,
    spread_integers,
)
from modelexport_exporter.sampling.masks import draw_mask, is_mask
from modelexport_exporter.sampling.rows import (
    alike,
    close_integers,
    close_together,
    copied_slices,
    drifting_rows,
    each_integer,
    far_rows,
    one_hot_rows,
    small_rows,
    sorted_rows,
    sparse_rows,
    stepped,
    stepped_integers,
    two_values,
)

Array = NDArray[Any]
Number = TypeVar("Number", int, float)

LARGE_SCALE = 16.0
"""Standard deviation of large values: saturates sigmoid and softmax, overflows no float16 layer."""
SMALL_SCALE = 1e-2
"""Standard deviation of small values: below most thresholds."""
LARGEST_MAGNITUDE = 64.0
"""Of floats without a range: four times the scale of large values."""
FEWEST_EACH, MOST_EACH = 64, 2**18
"""Widths of the ranges of which each integer is met: a smaller one is met anyway."""
CONSTANT_PART = 0.375
"""Where between the ends of a range all elements of a constant sample are: exact in any float."""

NUMPY_DTYPES: dict[DType, np.dtype[Any]] = {
    dtype: np.dtype(ml_dtypes.bfloat16 if dtype is DType.BFLOAT16 else dtype.value)
    for dtype in DType
    if dtype is not DType.STRING
}
COMPARABLE = set(DType) - {DType.BOOL, DType.STRING}
FLOATS = {DType.FLOAT16, DType.BFLOAT16, DType.FLOAT32, DType.FLOAT64}


def draw(inputs: Sequence[Input], sample: Sample) -> dict[str, Array]:
    """Return an array of the declared dtype and shape for each input, by its name.

    Raises ExportFailure if a declared range holds no value of the input's dtype.
    """
    arrays = {
        entry.name: _arrange(entry, sample, np.random.default_rng([sample.seed, position]))
        for position, entry in enumerate(inputs)
    }
    return _make_alike(inputs, arrays) if sample.values is Values.ALIKE else arrays


def _make_alike(inputs: Sequence[Input], arrays: Mapping[str, Array]) -> dict[str, Array]:
    """Return the arrays, each like the first one of its dtype, within its range."""
    first: dict[DType, Array] = {}
    made = dict(arrays)
    for entry in inputs:
        own = arrays[entry.name]
        if entry.dtype not in COMPARABLE or not own.size or is_mask(entry):
            continue
        if entry.dtype in first:
            low, high = range_of(entry)
            made[entry.name] = alike(first[entry.dtype], own, low, high)
        first.setdefault(entry.dtype, own)
    return made


def range_of(entry: Input) -> tuple[float, float]:
    """Return the ends of an input's range, infinite for floats without one."""
    if entry.dtype in FLOATS:
        low, high = entry.range or (-math.inf, math.inf)
        return float(low), float(high)
    return integer_range(entry)


def have_dtype_in_common(inputs: Sequence[Input]) -> bool:
    """Return whether two inputs of numbers have one dtype."""
    dtypes = [entry.dtype for entry in inputs if entry.dtype in COMPARABLE]
    return len(set(dtypes)) < len(dtypes)


def integer_range(entry: Input) -> tuple[int, int]:
    """Return the smallest and largest integer that an input may hold; 0 and 1 without a range.

    Raises ExportFailure if the range holds no value of the input's dtype.
    """
    limits = (0, 1) if entry.dtype is DType.BOOL else _integer_limits(entry.dtype)
    declared = (0.0, 1.0) if entry.range is None else entry.range
    low = max(limits[0], _to_integer(declared[0], limits, math.ceil))
    high = min(limits[1], _to_integer(declared[1], limits, math.floor))
    if low > high:
        raise ExportFailure(
            Reason.INVALID_MANIFEST,
            f"input {entry.name}: no {entry.dtype.value} is in the range "
            f"[{declared[0]:g}, {declared[1]:g}]",
            "Declare a range that the input's dtype can hold.",
        )
    return low, high


def takes_far(entry: Input) -> bool:
    """Return whether an input holds floats of any magnitude, of a type that reaches 1e4 squared."""
    return entry.dtype in {DType.FLOAT32, DType.FLOAT64} and entry.range is None


def each_count(entry: Input, size: int) -> int:
    """Return the number of samples of so many elements that have each integer of an input's range.

    0 for floats, and where the range is too small to need them, or too large.
    """
    if entry.dtype in FLOATS or entry.dtype is DType.BOOL or not size:
        return 0
    low, high = integer_range(entry)
    width = high - low + 1
    return -(-width // size) if FEWEST_EACH <= width <= MOST_EACH else 0


def reaches_limits(entry: Input) -> bool:
    """Return whether an input holds integers up to where arithmetic in floats ends."""
    return entry.dtype not in FLOATS and has_limits_inside(*integer_range(entry))


def _arrange(entry: Input, sample: Sample, rng: np.random.Generator) -> Array:
    """Return the drawn elements, in the order that the kind of values asks for."""

    def drawn(values: Values) -> Array:
        return _draw_input(entry, replace(sample, values=values), rng)

    if is_mask(entry):
        return draw_mask(entry, sample, rng).astype(NUMPY_DTYPES[entry.dtype])
    if sample.values is Values.EACH and entry.dtype not in FLOATS:
        low, high = integer_range(entry)
        each = each_integer(low, high, concrete_shape(entry, sample.dims), sample.seed)
        return each.astype(NUMPY_DTYPES[entry.dtype])
    moving = entry.dtype in FLOATS or sample.seed % 2 == 1
    arranged: dict[Values, Callable[[], Array]] = {
        Values.ORDERED: lambda: sorted_rows(drawn(Values.NORMAL), sample.seed % 2),
        Values.COPIES: lambda: copied_slices(drawn(Values.NORMAL)),
        Values.DRIFTING: lambda: drifting_rows(drawn(Values.NORMAL), rng, moving=moving),
        Values.ONE_HOT: lambda: one_hot_rows(drawn(Values.ZEROS), drawn(Values.HIGHEST)),
        Values.SPARSE: lambda: sparse_rows(drawn(Values.NORMAL), drawn(Values.ZEROS), rng),
    }
    return arranged.get(sample.values, lambda: drawn(sample.values))()


def _draw_input(entry: Input, sample: Sample, rng: np.random.Generator) -> Array:
    shape = concrete_shape(entry, sample.dims)
    if entry.dtype in FLOATS:
        drawn = _draw_floats(entry, sample.values, shape, rng)
        return np.asarray(drawn, dtype=NUMPY_DTYPES[entry.dtype])  # numpy makes 0-dim ones scalars
    low, high = integer_range(entry)
    drawn = _draw_integers(low, high, sample.values, shape, rng)
    return drawn.astype(NUMPY_DTYPES[entry.dtype])


def _draw_floats(
    entry: Input, values: Values, shape: tuple[int, ...], rng: np.random.Generator
) -> Array:
    if entry.range is None:
        return _draw_unbounded_floats(values, shape, rng)
    limits = ml_dtypes.finfo(NUMPY_DTYPES[entry.dtype])  # type: ignore[no-untyped-call]
    low, high = (float(np.clip(end, limits.min, limits.max)) for end in entry.range)
    constant = low * (1 - CONSTANT_PART) + high * CONSTANT_PART
    levels = _levels(low, high, constant)
    if values in levels:
        return np.full(shape, levels[values])
    made: dict[Values, Callable[[], Array]] = {
        Values.LARGE: lambda: _set_both_ends(
            np.where(rng.integers(0, 2, shape), high, low), low, high, rng
        ),
        Values.MAGNITUDES: lambda: _set_both_ends(
            spread_floats(low, high, shape, rng), low, high, rng
        ),
        Values.STEPS: lambda: stepped(low, high, shape, rng),
        Values.OFFSET: lambda: close_together(
            low + rng.random(shape) * (high - low), low, high, rng
        ),
    }
    if values in made:
        return made[values]()
    middle = low / 2 + high / 2
    low = middle if values is Values.POSITIVE else low
    high = middle if values is Values.NEGATIVE else high
    part = rng.random(shape)
    drawn = np.clip(low * (1 - part) + high * part, low, high)
    if values is Values.SMALL_INTEGERS:
        drawn = np.clip(_mix_in_small_integers(drawn, rng), low, high)
    if values is Values.REPEATED:
        drawn = two_values(drawn, rng)
    if values is Values.SMALL:
        return small_rows(drawn, low, high, rng)
    return _sometimes_set_both_ends(drawn, low, high, rng)


def _draw_unbounded_floats(
    values: Values, shape: tuple[int, ...], rng: np.random.Generator
) -> Array:
    levels = _levels(-1.0, 1.0, CONSTANT_PART)
    if values in levels:
        return np.full(shape, levels[values])
    normal = np.asarray(rng.standard_normal(shape))
    made: dict[Values, Callable[[], Array]] = {
        Values.LARGE: lambda: np.asarray(normal * LARGE_SCALE),
        Values.SMALL: lambda: np.asarray(normal * SMALL_SCALE),
        Values.SMALL_INTEGERS: lambda: _mix_in_small_integers(normal, rng),
        Values.REPEATED: lambda: two_values(normal, rng),
        Values.POSITIVE: lambda: np.abs(normal),
        Values.NEGATIVE: lambda: -np.abs(normal),
        Values.MAGNITUDES: lambda: spread_floats(-LARGEST_MAGNITUDE, LARGEST_MAGNITUDE, shape, rng),
        Values.STEPS: lambda: stepped(-math.inf, math.inf, shape, rng),
        Values.FAR: lambda: far_rows(normal, rng),
        Values.OFFSET: lambda: close_together(normal, -math.inf, math.inf, rng),
    }
    return made.get(values, lambda: normal)()


def _draw_integers(
    low: int, high: int, values: Values, shape: tuple[int, ...], rng: np.random.Generator
) -> Array:
    levels = _levels(low, high, low + int((high - low) * CONSTANT_PART))
    if values in levels:
        return np.full(shape, levels[values], dtype=np.int64)
    structured = {
        Values.MAGNITUDES: spread_integers,
        Values.LIMITS: near_limits,
        Values.STEPS: stepped_integers,
        Values.OFFSET: close_integers,
    }
    if values in structured:
        return structured[values](low, high, shape, rng)
    if values is Values.LARGE:
        ends = np.array([low, high], dtype=np.int64)
        return _set_both_ends(np.asarray(ends[rng.integers(0, 2, size=shape)]), low, high, rng)
    middle = (low + high) // 2
    low = middle if values is Values.POSITIVE else low
    high = middle if values is Values.NEGATIVE else high
    drawn = rng.integers(low, high, size=shape, endpoint=True, dtype=np.int64)
    if values is Values.REPEATED:
        return two_values(drawn, rng)
    return _sometimes_set_both_ends(np.asarray(drawn), low, high, rng)


def _levels(low: Number, high: Number, constant: Number) -> dict[Values, Number]:
    """Return the values that all elements have, for the kinds of samples that have one value."""
    zero = min(max(type(low)(0), low), high)
    return {
        Values.ZEROS: zero,
        Values.HIGHEST: high,
        Values.LOWEST: low,
        Values.CONSTANT: constant,
    }


def _mix_in_small_integers(drawn: Array, rng: np.random.Generator) -> Array:
    """Return the array with half of its elements replaced by -1, 1, or a zero of either sign."""
    small = np.array([-1.0, -0.0, 0.0, 1.0])[rng.integers(0, 4, drawn.shape)]
    return np.where(rng.integers(0, 2, drawn.shape), drawn, small)


def _set_both_ends(array: Array, low: float, high: float, rng: np.random.Generator) -> Array:
    """Set two elements, anywhere, to the ends of the range, if there are two."""
    if array.size > 1:
        first, last = rng.choice(array.size, 2, replace=False)
        array.flat[first], array.flat[last] = low, high
    return array


def _sometimes_set_both_ends(
    array: Array, low: float, high: float, rng: np.random.Generator
) -> Array:
    """Do so in every other array on average: else the extremes of all inputs were always equal."""
    return _set_both_ends(array, low, high, rng) if rng.integers(0, 2) else array


def _integer_limits(dtype: DType) -> tuple[int, int]:
    limits = np.iinfo(NUMPY_DTYPES[dtype])
    return int(limits.min), int(limits.max)


def _to_integer(end: float, limits: tuple[int, int], rounding: Callable[[float], int]) -> int:
    if math.isinf(end):
        return limits[1] if end > 0 else limits[0]
    return rounding(end)
