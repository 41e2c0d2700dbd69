"""Rows with a structure that independent draws never have: sorted ones, and ones with one peak."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]


def sorted_rows(array: Array) -> Array:
    """Return the array sorted along its last dim: ascending and descending rows by turns."""
    if array.ndim == 0 or not array.size:
        return array
    rows = np.sort(array, axis=-1).reshape(-1, array.shape[-1])
    rows[1::2] = rows[1::2, ::-1].copy()
    return rows.reshape(array.shape)


def one_hot_rows(background: Array, peaks: Array, rng: np.random.Generator) -> Array:
    """Return `background` with one element of `peaks`, of the same shape, in each row."""
    if background.ndim == 0 or not background.size:
        return peaks
    length = background.shape[-1]
    rows = background.reshape(-1, length).copy()
    each = np.arange(len(rows))
    places = rng.integers(0, length, len(rows))
    rows[each, places] = peaks.reshape(-1, length)[each, places]
    return rows.reshape(background.shape)
