"""Injects values into drawn arrays: numbers of the ONNX file and of the code, row indices, NaN.

A comparison with 0.5 that turned from `<` into `<=` shows only at 0.5, a damaged row of an
embedding only where a token looks it up, and a rule for country 117 and device 3 only where both
are in one row. Random samples meet none of these.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from modelexport_api.spec import Input
from modelexport_exporter.core.dims import concrete_shape
from modelexport_exporter.core.sample import Sample, Values
from modelexport_exporter.sampling.draw import FLOATS, NUMPY_DTYPES, integer_range

Array = NDArray[Any]

MIN_SAMPLES, MAX_SAMPLES = 2, 64
"""Number of samples over which the injected values are distributed."""
_SHARE, _NAN_SHARE = 0.5, 0.25
"""Share of an input's elements that is replaced."""
MIDDLE = 0.4
"""Where inside a range multiples of the model's periods are, besides its lower end."""
_KEPT_SHARE = 0.1
"""Share of the elements that stay as they are drawn where all others are numbers of the model."""


@dataclass(frozen=True)
class InjectedValues:
    """Values to inject into inputs."""

    constants: tuple[float, ...] = ()
    """Scalar constants of the file, and all elements of those that values are compared with."""
    halves: tuple[float, ...] = ()
    """Numbers that become halves or integers when such a constant scales them."""
    rows: tuple[int, ...] = ()
    """Rows in which a table of the file differs from the checkpoint's, or of a table that is in
    the file only."""
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
    """Return arrays of numbers that the model names, at random in each element.

    So a rule that needs two of them in one row occurs once in as many rows as there are pairs.
    """
    replaced = {}
    for position, entry in enumerate(inputs):
        rng = np.random.default_rng([seed, position])
        array, numbers = arrays[entry.name], _named_for(entry, injected)
        if not len(numbers):
            replaced[entry.name] = array
            continue
        chosen = _beside(entry, rng.choice(numbers, size=array.shape), rng)
        kept = rng.random(array.shape) < _KEPT_SHARE
        replaced[entry.name] = np.where(kept, array, chosen).astype(array.dtype)
    return replaced


def _beside(entry: Input, chosen: Array, rng: np.random.Generator) -> Array:
    """Return half of the numbers as they are, and the others on either side, within `range`.

    A rule `a > 2 and b < 5` is met next to its numbers only.
    """
    kind = rng.integers(0, 8, chosen.shape)
    if entry.dtype in FLOATS:
        low, high = entry.range or (-math.inf, math.inf)
        dtype = NUMPY_DTYPES[entry.dtype]
        own = chosen.astype(dtype if dtype.kind == "f" else np.float64)
        moved = [np.nextafter(own, own.dtype.type(end)) for end in (-np.inf, np.inf)]
        moved += [own * own.dtype.type(factor) for factor in (0.75, 1.25)]
    else:
        low, high = integer_range(entry)
        own = chosen
        moved = [own + step for step in (-1, 1, -2, 2)]
    beside = np.choose(np.minimum(kind, 4), [*moved, own])
    return np.where((beside >= low) & (beside <= high), beside, own)


def has_named(inputs: Sequence[Input], injected: InjectedValues) -> bool:
    """Return whether an input takes one of the numbers that the model names."""
    return any(len(_named_for(entry, injected)) for entry in inputs)


def _named_for(entry: Input, injected: InjectedValues) -> Array:
    """Return the numbers of the model that an input may hold."""
    if entry.dtype in FLOATS:
        low, high = entry.range or (-math.inf, math.inf)
        numbers = np.array([*dict.fromkeys((*injected.limits, *injected.lost))])
    elif np.dtype(NUMPY_DTYPES[entry.dtype]).kind == "b":
        return np.array([])
    else:
        low, high = integer_range(entry)
        numbers = np.array(injected.integers, dtype=np.int64)
    return numbers[(numbers >= low) & (numbers <= high)]


def inject_not_finite(
    inputs: Sequence[Input], arrays: Mapping[str, Array], sample: Sample
) -> dict[str, Array]:
    """Return the arrays with NaN, or infinities, in a quarter of the floats without a `range`."""
    odd = [np.nan] if sample.values is Values.WITH_NAN else [np.inf, -np.inf]
    return {
        entry.name: _replace_share(
            arrays[entry.name],
            np.array(odd if takes_nan(entry) else []),
            np.random.default_rng([sample.seed, position]),
            _NAN_SHARE,
        )
        for position, entry in enumerate(inputs)
    }


def takes_nan(entry: Input) -> bool:
    """Return whether an input holds floats and declares no range, which would exclude NaN."""
    return entry.dtype in FLOATS and entry.range is None


def _values_for(entry: Input, injected: InjectedValues) -> Array:
    """Return the values to inject into an input, shuffled, constants before halves."""
    if entry.dtype in FLOATS:
        low, high = entry.range or (-math.inf, math.inf)
        named = _near_floats(entry, (*injected.limits, *injected.lost))
        multiples = _multiples(injected.periods, low, high)
        pools = [np.array(injected.constants), named, np.array([*injected.halves, *multiples])]
    elif np.dtype(NUMPY_DTYPES[entry.dtype]).kind == "b":
        return np.array([])
    else:
        low, high = integer_range(entry)
        near = dict.fromkeys(number + step for step in (0, 1, -1) for number in injected.integers)
        multiples = [round(one) for one in _multiples(injected.periods, low, high)]
        whole = dict.fromkeys(one + step for one in multiples for step in (0, -1))
        pools = [np.array([*numbers], dtype=np.int64) for numbers in (near, whole, injected.rows)]
    rng = np.random.default_rng(1)
    within = [pool[(pool >= low) & (pool <= high)] for pool in pools]
    return np.concatenate([rng.permutation(pool) for pool in within])


def _multiples(periods: Sequence[float], low: float, high: float) -> list[float]:
    """Return multiples of the periods, and halves between, inside a range that is far from zero.

    A whole day in seconds since 1970 occurs in 1 of 86,400 draws.
    """
    if not math.isfinite(high - low) or low <= 0 <= high:
        return []
    near = (low, low + (high - low) * MIDDLE)
    found = [
        (math.ceil(place / period) + step) * period
        for period in periods
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
