"""Inputs that are tried before any gradient: other scales, levels, and values that inputs share.

`torch.equal(x, y)` is true for equal inputs only, `x.mean() > 40` for large ones, and
`(ids == 777).any()` for the id that the code names.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from modelexport_api.spec import DType, Input
from modelexport_exporter.core.sample import Sample, Values
from modelexport_exporter.sampling.draw import FLOATS, draw, range_of

Array = NDArray[Any]

SCALES = (1e1, 1e2, 1e3, 1e4, 1e-3)
LEVELS = (0.0, 1.0, 0.5, 0.01, 0.99, 0.1, 0.9, 0.25, 0.75)
"""Where between the ends of a range all elements of an input are."""
DRAWN = (
    Values.NORMAL, Values.ZEROS, Values.LARGE, Values.POSITIVE, Values.NEGATIVE, Values.HIGHEST,
    Values.LOWEST, Values.REPEATED, Values.SMALL_INTEGERS, Values.MAGNITUDES, Values.SMALL,
)  # fmt: skip
SHARES = (1.0, 0.5, 0.0)
"""Of an input's elements that are one number; 0: one element only."""
MOST_NAMED = 32


def candidates(
    inputs: Sequence[Input],
    sizes: Mapping[str, int],
    named: Sequence[float],
    state: Mapping[str, Array],
) -> Iterator[dict[str, Array]]:
    """Yield arrays by input. `named`: numbers of the model; `state`: its small tensors by name."""
    drawn = [draw(inputs, Sample(dict(sizes), values, 7)) for values in DRAWN]
    yield from drawn
    normal = drawn[0]
    yield from _equal_inputs(inputs, normal)
    yield from _of_state(inputs, normal, state)
    floats = [entry for entry in inputs if entry.dtype in FLOATS]
    for scale in SCALES if floats else ():
        for sign in (1, -1):
            moved = {entry.name: _scaled(entry, normal, sign * scale) for entry in floats}
            yield {**normal, **moved}
    for level in LEVELS:
        yield {entry.name: _level(entry, normal[entry.name], level) for entry in inputs}
    yield from _named(inputs, normal, named)


def _equal_inputs(
    inputs: Sequence[Input], arrays: Mapping[str, Array]
) -> Iterator[dict[str, Array]]:
    """Yield arrays of which two inputs of one shape and dtype are equal."""
    for one, other in combinations(inputs, 2):
        first, second = arrays[one.name], arrays[other.name]
        if first.shape == second.shape and first.dtype == second.dtype:
            yield {**arrays, other.name: _within(other, first)}


def _of_state(
    inputs: Sequence[Input], arrays: Mapping[str, Array], state: Mapping[str, Array]
) -> Iterator[dict[str, Array]]:
    """Yield arrays of which one input equals a parameter or buffer."""
    for entry in inputs:
        own = arrays[entry.name]
        for tensor in state.values():
            if tensor.dtype == own.dtype and tensor.shape == own.shape:
                yield {**arrays, entry.name: _within(entry, tensor)}


def _named(
    inputs: Sequence[Input], arrays: Mapping[str, Array], named: Sequence[float]
) -> Iterator[dict[str, Array]]:
    """Yield arrays with numbers of the model, in all elements, in half of them, and in one."""
    for entry in inputs:
        for number in named[:MOST_NAMED]:
            for near in (number, number + 1, number - 1):
                for share in SHARES:
                    filled = _filled(entry, arrays[entry.name], near, share)
                    if filled is not None:
                        yield {**arrays, entry.name: filled}


def _filled(entry: Input, array: Array, number: float, share: float) -> Array | None:
    low, high = range_of(entry)
    whole = entry.dtype in FLOATS or float(number).is_integer()
    if entry.dtype is DType.BOOL or not array.size or not whole or not low <= number <= high:
        return None
    places = np.random.default_rng(3).permutation(array.size)
    filled = array.copy()
    filled.reshape(-1)[places[: max(1, round(share * array.size))]] = number
    return filled


def _scaled(entry: Input, arrays: Mapping[str, Array], scale: float) -> Array:
    limit = float(np.finfo(np.float32).max)
    scaled = np.clip(arrays[entry.name].astype(np.float64) * scale, -limit, limit)
    return _within(entry, scaled).astype(arrays[entry.name].dtype)


def _level(entry: Input, array: Array, level: float) -> Array:
    """Return an array of one value; without a range, between -1 and 1."""
    low, high = range_of(entry)
    low, high = (low, high) if math.isfinite(high - low) else (-1.0, 1.0)
    return np.full_like(array, low * (1 - level) + high * level)


def _within(entry: Input, array: Array) -> Array:
    return np.asarray(np.clip(array, *range_of(entry)).astype(array.dtype))
