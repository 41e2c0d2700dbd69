"""Ties: samples on which a model that ranks its values has several correct outputs.

Neither torch.topk and torch.sort nor ONNX's TopK specify the order of equal values: on zeros, eager
and onnxruntime may differ and both be correct. Such a sample is inconclusive, so the comparison is
repeated with its ties broken. Guarantees that this is done only for outputs that depend on a
ranking operator, and never where NaN differs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from modelexport_api.spec import Input
from modelexport_exporter.sampling.draw import FLOATS, NUMPY_DTYPES, integer_range

Array = NDArray[Any]

RANKING = frozenset({"TopK", "NonMaxSuppression"})
"""Operators whose order among equal values is not specified."""
LARGEST_MOVE = 0.05
"""How far values are moved to break ties, relative to their magnitude or to 1 if that is less."""
MOST_INTEGERS = 2**31
"""Integers are chosen among so many, from 0 on where the range is wider."""


def break_ties(
    inputs: Sequence[Input], arrays: Mapping[str, Array], seed: int
) -> dict[str, Array] | None:
    """Return the arrays with equal elements moved apart, within `range`; None if none were equal.

    Integers become distinct where their range has room for that, and stay as they are otherwise.
    """
    moved = {
        entry.name: _move_apart(entry, arrays[entry.name], np.random.default_rng([seed, position]))
        for position, entry in enumerate(inputs)
    }
    same = all(np.array_equal(moved[name], arrays[name]) for name in moved)
    return None if same else moved


def _move_apart(entry: Input, array: Array, rng: np.random.Generator) -> Array:
    comparable = array.astype(np.float64) if entry.dtype in FLOATS else array
    if np.unique(comparable).size == array.size:
        return array
    if entry.dtype in FLOATS:
        return _move_floats_apart(entry, array, rng)
    if array.dtype.kind == "b":
        return array
    low, high = integer_range(entry)
    width = min(high - low + 1, MOST_INTEGERS)
    if width < array.size:
        return array
    first = max(low, min(0, high - width + 1))
    distinct = first + rng.choice(width, size=array.size, replace=False)
    return np.asarray(distinct.astype(array.dtype).reshape(array.shape))


def _move_floats_apart(entry: Input, array: Array, rng: np.random.Generator) -> Array:
    values = array.astype(np.float64)
    # Distinct steps instead of random ones, which could meet again in a narrow type.
    steps = rng.permutation(array.size).reshape(array.shape) / array.size - 0.5
    moved = values + steps * LARGEST_MOVE * np.maximum(np.abs(values), 1.0)
    if entry.range is not None:
        low, high = entry.range
        width = (high - low) * LARGEST_MOVE
        inner = np.clip(values, low + width, high - width)
        moved = inner + steps * 2 * width
    return np.asarray(moved.astype(NUMPY_DTYPES[entry.dtype]))
