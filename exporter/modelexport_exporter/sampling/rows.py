"""Arrays with a structure that independent draws never have: sorted rows, one peak, steps."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]

NEAR = 8
"""How far stepped integers are from zero at most; halves up to half of it."""


def sorted_rows(array: Array) -> Array:
    """Return the array sorted along its last dim: ascending and descending rows by turns."""
    if array.ndim == 0 or not array.size:
        return array
    rows = np.sort(array, axis=-1).reshape(-1, array.shape[-1])
    rows[1::2] = rows[1::2, ::-1].copy()
    return rows.reshape(array.shape)


def one_hot_rows(background: Array, peaks: Array) -> Array:
    """Return `background` with one element of `peaks`, of the same shape, in each row.

    Every other row is the reverse: `peaks` with one element of the background. Two rows after each
    other have it at the same place: the middle, the end, the beginning, and then all others.
    """
    if background.ndim == 0 or not background.size:
        return peaks
    length = background.shape[-1]
    zeros, ones = background.reshape(-1, length), peaks.reshape(-1, length)
    each = np.arange(len(zeros))
    first = dict.fromkeys((length // 2, length - 1, 0))
    order = [*first, *(place for place in range(length) if place not in first)]
    places = np.array(order)[(each // 2) % length]
    single = np.arange(length) == places[:, None]
    reverse = (each % 2 == 1)[:, None]
    return np.where(single != reverse, ones, zeros).reshape(background.shape)


def stepped(low: float, high: float, shape: tuple[int, ...], rng: np.random.Generator) -> Array:
    """Return floats of [low, high]: halves near zero, or near the lower end, and eighths of it.

    A range without end has halves only.
    """
    anchor = np.ceil(min(max(0.0, low), high))
    near = np.clip(anchor + rng.integers(-NEAR, NEAR + 1, shape) / 2, low, high)
    if not np.isfinite(high - low):
        return np.asarray(near)
    eighths = low + rng.integers(0, 9, shape) / 8 * (high - low)
    return np.where(rng.integers(0, 2, shape) == 0, near, np.clip(eighths, low, high))


def stepped_integers(
    low: int, high: int, shape: tuple[int, ...], rng: np.random.Generator
) -> Array:
    """Return integers of [low, high] that are nearest to zero."""
    anchor = min(max(0, low), high)
    return rng.integers(
        max(low, anchor - NEAR), min(high, anchor + NEAR), shape, endpoint=True, dtype=np.int64
    )


def each_integer(low: int, high: int, shape: tuple[int, ...], number: int) -> Array:
    """Return the integers of [low, high] in order, as if all samples were one array."""
    size = int(np.prod(shape, dtype=np.int64))
    places = (number * size + np.arange(size, dtype=np.int64)) % (high - low + 1)
    return np.asarray((low + places).reshape(shape))
