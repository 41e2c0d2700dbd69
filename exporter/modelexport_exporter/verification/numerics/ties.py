"""Ties: samples on which a model that ranks its values has no single right answer.

torch.topk and torch.sort do not say which of equal values comes first, nor does ONNX's TopK: on
zeros, eager and onnxruntime may both be right and differ. Such a sample says nothing; the same
sample with its ties broken does. Guarantees that only files with a ranking operator are looked at
in this way, and that the outputs that count are exactly equal where nothing is tied.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from modelexport_api.spec import Input
from modelexport_exporter.sampling.draw import FLOATS, NUMPY_DTYPES, integer_range

Array = NDArray[Any]

RANKING = frozenset({"TopK", "NonMaxSuppression"})
"""Operators whose order among equal values is not specified."""
SPREAD = 0.05
"""How far values are moved to break ties, relative to their magnitude and at least to 1."""


def ranks(operators: Collection[str]) -> bool:
    """Tell whether a file has an operator that orders values."""
    return not RANKING.isdisjoint(operators)


def break_ties(
    inputs: Sequence[Input], arrays: Mapping[str, Array], seed: int
) -> dict[str, Array] | None:
    """Return the arrays with equal elements moved apart, within `range`; None if none were equal.

    Integers become distinct where their range has room for that, and stay as they are otherwise.
    """
    moved = {
        entry.name: _apart(entry, arrays[entry.name], np.random.default_rng([seed, position]))
        for position, entry in enumerate(inputs)
    }
    same = all(np.array_equal(moved[name], arrays[name]) for name in moved)
    return None if same else moved


def _apart(entry: Input, array: Array, rng: np.random.Generator) -> Array:
    if array.size < 2 or np.unique(array.astype(np.float64)).size == array.size:  # noqa: PLR2004
        return array
    if entry.dtype in FLOATS:
        return _floats_apart(entry, array, rng)
    if array.dtype.kind == "b":
        return array
    low, high = integer_range(entry)
    if high - low + 1 < array.size or high - low > np.iinfo(np.int32).max:
        return array
    distinct = low + rng.choice(high - low + 1, size=array.size, replace=False)
    return np.asarray(distinct.astype(array.dtype).reshape(array.shape))


def _floats_apart(entry: Input, array: Array, rng: np.random.Generator) -> Array:
    values = array.astype(np.float64)
    # Distinct steps instead of random ones, which could meet again in a narrow type.
    steps = rng.permutation(array.size).reshape(array.shape) / array.size - 0.5
    moved = values + steps * SPREAD * np.maximum(np.abs(values), 1.0)
    if entry.range is not None:
        low, high = entry.range
        width = (high - low) * SPREAD
        inner = np.clip(values, low + width, high - width)
        moved = inner + steps * 2 * width
    return np.asarray(moved.astype(NUMPY_DTYPES[entry.dtype]))
