"""Inputs that differ in one element from inputs that reached something: pure.

`if c == 77: … if a // 4 == -3`: the second test is met by few inputs, and decided by another one of
their elements.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import zip_longest
from typing import Any

import numpy as np
from numpy.typing import NDArray

from modelexport_api.spec import DType, Input
from modelexport_exporter.sampling.draw import FLOATS, range_of

Array = NDArray[Any]

MOST_PLACES = 8
"""Elements of an input that are changed."""
EVERY = 256
"""Of a range with so many integers, each is tried."""
MOST_NAMED = 32
STEPS = 17
"""Numbers of a range that are tried, at equal distances."""
PLAIN = (-3.0, 3.0)
"""The range of floats that declare none."""


def beside(
    inputs: Sequence[Input], arrays: Mapping[str, Array], named: Sequence[float]
) -> Iterator[dict[str, Array]]:
    """Yield the arrays with one element changed, by turns of all inputs. `named`: likely numbers.

    Arrays of the model's inputs that are not among `inputs` stay as they are.
    """
    ways = [_of_input(entry, arrays[entry.name], named) for entry in inputs if entry.name in arrays]
    for turn in zip_longest(*ways):
        yield from ({**arrays, **changed} for changed in turn if changed is not None)


def _of_input(entry: Input, array: Array, named: Sequence[float]) -> Iterator[dict[str, Array]]:
    values = _values(entry, named)
    for place in range(min(array.size, MOST_PLACES)):
        for value in values:
            changed = array.copy()
            changed.reshape(-1)[place] = value
            yield {entry.name: changed}


def _values(entry: Input, named: Sequence[float]) -> list[float]:
    """Return what an element of an input may be."""
    if entry.dtype is DType.BOOL:
        return [0, 1]
    low, high = range_of(entry)
    if entry.dtype not in FLOATS and high - low < EVERY:
        return [float(value) for value in range(math.ceil(low), math.floor(high) + 1)]
    near = [value + step for value in named[:MOST_NAMED] for step in (0.0, 1.0, -1.0)]
    first, last = (low, high) if math.isfinite(high - low) else PLAIN
    between = np.linspace(max(low, first), min(high, last), STEPS).tolist()
    if entry.dtype not in FLOATS:
        near, between = _whole(near), _whole(between)
    return [value for value in dict.fromkeys((*near, *between)) if low <= value <= high]


def _whole(values: Sequence[float]) -> list[float]:
    return [float(round(value)) for value in values]
