"""Injects values into drawn arrays: numbers of the ONNX file and of the code.

A comparison with 0.5 that turned from `<` into `<=` shows only at 0.5, and a rule for country 117
and device 3 only where both are in one row. Random samples meet none of these.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from modelexport_api.spec import Input
from modelexport_exporter.core.dims import concrete_shape
from modelexport_exporter.sampling.draw import FLOATS, NUMPY_DTYPES, integer_range

Array = NDArray[Any]

MIN_SAMPLES, MAX_SAMPLES = 2, 64
"""Number of samples over which the injected values are distributed."""
_SHARE = 0.5
"""Share of an input's elements that is replaced."""
MIDDLE = 0.4
"""Where inside a range multiples of the model's periods are, besides its lower end."""
_JUST_BELOW = (0.25, 3e-4, 2e-5)
"""Distances at which a rounded number is a multiple, and its floor is not."""
_MOST_PERIODS = 16
_EQUAL_SHARE = 0.15
"""Share of rows whose elements are all equal: a rule may hold for a whole image."""
_OWN_SHARE, _OF_COLUMN_SHARE = 0.5, 0.9
"""Share of the elements of an input, or of a column, that are its own numbers, if it has some."""
_SIDES = (0, 0, -1, 1)
"""Where a number of the model is moved to."""
_NEXT_SHARE = 0.4
"""Share of the moved floats that are the next number of their dtype."""
_KEPT_SHARE = 0.1
"""Share of the elements that stay as they are drawn where all others are numbers of the model."""


@dataclass(frozen=True)
class InjectedValues:
    """Values to inject into inputs."""

    constants: tuple[float, ...] = ()
    """Scalar constants of the file, and all elements of those that values are compared with."""
    halves: tuple[float, ...] = ()
    """Numbers that become halves or integers when such a constant scales them."""
    named: tuple[float, ...] = ()
    """Numbers that the model's code names, for integers."""
    lost: tuple[float, ...] = ()
    """The same for floats: those that a trace may have lost. A network's code names its widths."""
    limits: tuple[float, ...] = ()
    """Floats of the file that values are compared with."""
    periods: tuple[float, ...] = ()
    """Numbers that values are divided by, for a whole number or a remainder."""
    compared: tuple[int, ...] = ()
    """Integers of the file that values are compared with."""
    reaching: Mapping[str, Mapping[int | None, tuple[float, ...]]] = field(default_factory=dict)
    """Numbers of each input at which what is computed of it equals a constant of the file, by the
    column that is read; None where it is not known."""

    @property
    def scales(self) -> tuple[float, ...]:
        """Return the numbers of the code and of the file that may scale floats."""
        return tuple(dict.fromkeys((*self.named, *self.constants, *self.periods)))

    @property
    def integers(self) -> tuple[int, ...]:
        """Return all integers that the model names, each once."""
        own = (int(number) for number in self.named if float(number).is_integer())
        return tuple(dict.fromkeys((*own, *self.compared)))

    @property
    def sizes(self) -> tuple[int, ...]:
        """Return the whole numbers that the file compares with: a size may be cast to a float."""
        whole = (int(number) for number in self.limits if number.is_integer())
        return tuple(dict.fromkeys((*self.compared, *whole)))


def has_values(inputs: Sequence[Input], injected: InjectedValues) -> bool:
    """Return whether an input takes one of the values."""
    return any(len(_values_for(entry, injected)) for entry in inputs)


def sample_count(inputs: Sequence[Input], dims: Mapping[str, int], injected: InjectedValues) -> int:
    """Return the number of samples of these sizes that hold each value once, within limits."""
    needed = MIN_SAMPLES
    for entry in inputs:
        places = _count_places(math.prod(concrete_shape(entry, dims)), _SHARE)
        needed = max(needed, -(-len(_values_for(entry, injected)) // places))
    return min(needed, MAX_SAMPLES)


def inject(
    inputs: Sequence[Input], arrays: Mapping[str, Array], injected: InjectedValues, number: int
) -> dict[str, Array]:
    """Return the arrays with half of their elements replaced by injected values within `range`.

    The values are distributed round-robin: sample `number` continues where `number - 1` ended.
    """
    replaced = {}
    for position, entry in enumerate(inputs):
        rng = np.random.default_rng([number, position])
        array, values = arrays[entry.name], _values_for(entry, injected)
        rotated = np.roll(values, -number * _count_places(array.size, _SHARE))
        replaced[entry.name] = _replace_share(array, rotated, rng, _SHARE)
    return replaced


def inject_named(
    inputs: Sequence[Input], arrays: Mapping[str, Array], injected: InjectedValues, seed: int
) -> dict[str, Array]:
    """Return arrays of numbers that the model names, at random in each element, and next to them.

    So a rule that needs two of them in one row occurs once in as many rows as there are pairs, and
    the end of one condition where the others hold.
    """
    replaced = {}
    for position, entry in enumerate(inputs):
        rng = np.random.default_rng([seed, position])
        array, numbers = arrays[entry.name], _named_for(entry, injected)
        if not len(numbers):
            replaced[entry.name] = array
            continue
        chosen = _moved(entry, rng.choice(numbers, size=array.shape), rng)
        _choose_own(entry, chosen, injected, rng)
        kept = rng.random(array.shape) < _KEPT_SHARE
        _make_rows_equal(chosen, kept, rng)
        replaced[entry.name] = np.where(kept, array, chosen).astype(array.dtype)
    return replaced


def _make_rows_equal(chosen: Array, kept: Array, rng: np.random.Generator) -> None:
    """Let all elements of some rows be the first one, and none of them stay as it was drawn."""
    if chosen.ndim > 1 and chosen.size:
        equal = rng.random(len(chosen)) < _EQUAL_SHARE
        first = chosen.reshape(len(chosen), -1)[equal, 0]
        chosen[equal] = first.reshape(-1, *[1] * (chosen.ndim - 1))
        kept[equal] = False


def _choose_own(
    entry: Input, chosen: Array, injected: InjectedValues, rng: np.random.Generator
) -> None:
    """Let most elements be numbers at which what is computed of the input, or a column, decides."""
    for column, own in sorted(
        injected.reaching.get(entry.name, {}).items(), key=lambda item: item[0] is not None
    ):
        numbers = _within(entry, own)
        if not len(numbers):
            continue
        part, share = chosen, _OWN_SHARE
        if column is not None:
            if chosen.ndim == 0 or not -1 <= column < chosen.shape[-1]:
                continue
            part, share = chosen[..., column], _OF_COLUMN_SHARE
        drawn = _moved(entry, rng.choice(numbers, size=part.shape), rng)
        part[...] = np.where(rng.random(part.shape) < share, drawn, part)


def _moved(entry: Input, numbers: Array, rng: np.random.Generator) -> Array:
    """Return the numbers, some of them a little larger or smaller, within the input's range."""
    sides = rng.choice(_SIDES, size=numbers.shape)
    if entry.dtype not in FLOATS:
        return np.asarray(np.clip(numbers + sides, *integer_range(entry)))
    distance = np.maximum(np.abs(numbers), 1.0) * 10.0 ** rng.uniform(-4.0, 0.0, numbers.shape)
    dtype = NUMPY_DTYPES[entry.dtype]
    own = numbers.astype(dtype if dtype.kind == "f" else np.float64)
    ends = np.where(sides > 0, own.dtype.type(np.inf), own.dtype.type(-np.inf))
    following = np.where(sides == 0, own, np.nextafter(own, ends))
    moved = np.where(rng.random(own.shape) < _NEXT_SHARE, following, own + sides * distance)
    low, high = entry.range or (-math.inf, math.inf)
    return np.asarray(np.clip(moved, low, high))


def has_named(inputs: Sequence[Input], injected: InjectedValues) -> bool:
    """Return whether an input takes one of the numbers that the model names."""
    return any(len(_named_for(entry, injected)) for entry in inputs)


def _named_for(entry: Input, injected: InjectedValues) -> Array:
    """Return the numbers of the model that an input may hold, and the one nearest to zero."""
    reaching = _reaching(entry, injected)
    if entry.dtype in FLOATS:
        numbers = _within(entry, (*injected.limits, *injected.lost, *reaching))
    elif np.dtype(NUMPY_DTYPES[entry.dtype]).kind == "b":
        return np.array([])
    else:
        numbers = _within(entry, (*injected.integers, *reaching))
    return np.unique(np.append(numbers, _within(entry, (0,)))) if len(numbers) else numbers


def _reaching(entry: Input, injected: InjectedValues) -> list[float]:
    columns = injected.reaching.get(entry.name, {})
    return list(dict.fromkeys(number for numbers in columns.values() for number in numbers))


def _within(entry: Input, numbers: Iterable[float]) -> Array:
    """Return those numbers that the input may hold, each once."""
    if entry.dtype in FLOATS:
        low, high = entry.range or (-math.inf, math.inf)
        return np.array([*dict.fromkeys(float(n) for n in numbers if low <= n <= high)])
    least, most = integer_range(entry)
    whole = (int(number) for number in numbers if least <= number <= most and number == int(number))
    return np.array([*dict.fromkeys(whole)], dtype=np.int64)


def _values_for(entry: Input, injected: InjectedValues) -> Array:
    """Return the values to inject into an input, shuffled, constants before halves."""
    if entry.dtype in FLOATS:
        low, high = entry.range or (-math.inf, math.inf)
        reaching = _reaching(entry, injected)
        named = _near_floats(entry, (*injected.limits, *injected.lost, *reaching))
        multiples = _multiples(injected.periods, low, high)
        pools = [np.array(injected.constants), named, np.array([*injected.halves, *multiples])]
    elif np.dtype(NUMPY_DTYPES[entry.dtype]).kind == "b":
        return np.array([])
    else:
        low, high = integer_range(entry)
        own = (*injected.integers, *_within(entry, _reaching(entry, injected)).tolist())
        steps = (number + step for step in (0, 1, -1) for number in own)
        near = dict.fromkeys(number for number in steps if low <= number <= high)
        multiples = [round(one) for one in _multiples(injected.periods, low, high)]
        stepped = (one + step for one in multiples for step in (0, -1))
        whole = dict.fromkeys(number for number in stepped if low <= number <= high)
        pools = [np.array([*numbers], dtype=np.int64) for numbers in (near, whole)]
    rng = np.random.default_rng(1)
    within = [pool[(pool >= low) & (pool <= high)] for pool in pools]
    return np.concatenate([rng.permutation(pool) for pool in within])


def _multiples(periods: Sequence[float], low: float, high: float) -> list[float]:
    """Return multiples of the periods, halves between, and numbers a little below multiples.

    A whole day in seconds since 1970 occurs in 1 of 86,400 draws, the last half second before it
    in as many.
    """
    if not math.isfinite(high - low):
        return []
    near = (low, low + (high - low) * MIDDLE)
    found = [
        (math.ceil(place / period) + step) * period - distance
        for distance in (0.0, *_JUST_BELOW)
        for period in periods[:_MOST_PERIODS]
        if period < high - low
        for place in near
        for step in (0, 0.5, 1)
    ]
    return [number for number in dict.fromkeys(found) if low <= number <= high]


def _near_floats(entry: Input, numbers: Sequence[float]) -> Array:
    """Return the numbers, as the input's dtype holds them, and the next ones above and below."""
    dtype = NUMPY_DTYPES[entry.dtype]
    if dtype.kind != "f":
        return np.array(numbers)
    own = np.array(numbers, dtype=dtype)
    above, below = np.nextafter(own, dtype.type(np.inf)), np.nextafter(own, dtype.type(-np.inf))
    return np.concatenate([own, above, below]).astype(np.float64)


def _replace_share(array: Array, values: Array, rng: np.random.Generator, share: float) -> Array:
    """Return the array with a share of its elements replaced by the values, repeated as needed."""
    if not len(values) or not array.size:
        return array
    places = rng.permutation(array.size)[: _count_places(array.size, share)]
    replaced = array.copy()
    replaced.reshape(-1)[places] = np.resize(values, len(places)).astype(array.dtype)
    return replaced


def _count_places(size: int, share: float) -> int:
    return max(1, round(size * share))
