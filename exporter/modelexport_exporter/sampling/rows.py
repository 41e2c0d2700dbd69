"""Arrays with a structure that independent draws never have: sorted rows, one peak, steps."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]

POWERS = (-7.0, 4.0)
"""Powers of ten of far floats: the least that a threshold distinguishes from zero, and what no
network is trained on but some users send."""
CENTRES, SPREAD = (1.0, 3.0), (-3.0, -1.0)
"""Powers of ten of numbers that are close to each other, and of their relative distances.

At a thousandth float32 leaves one digit of a variance by squares, and four of one by distances.
"""
COORDINATES = 4
"""Numbers of a point, a quaternion, a box."""
SPARSE_PART = 4
"""One of so many elements at most differs from the others in sparse examples."""
LONGEST_STEP = 0.15
"""Of rows that drift, as a part of the range of all numbers."""
NEARLY = (0.0, 1e-6, 1e-4, 1e-2, -2.0)
"""Relative differences of numbers that are equal, nearly so, and opposite."""
INTEGER_KINDS = 3
"""Rows of integers that are equal, one apart, and equal but for one element."""
SMALL_POWERS = (-6.0, -1.0)
"""Powers of ten by which examples of a range are smaller: what an epsilon decides on."""
NEAR = 8
"""How far stepped integers are from zero at most; halves up to half of it."""


def sorted_rows(array: Array, first: int = 0) -> Array:
    """Return the array sorted along its last dim: ascending and descending rows by turns.

    `first`: 1 if the first row is a descending one.
    """
    if array.ndim == 0 or not array.size:
        return array
    rows = np.sort(array, axis=-1).reshape(-1, array.shape[-1])
    rows[1 - first :: 2] = rows[1 - first :: 2, ::-1].copy()
    return rows.reshape(array.shape)


def two_values(array: Array, rng: np.random.Generator) -> Array:
    """Return an array of the first and the last element: at random, in every other row by turns."""
    if not array.size:
        return array
    first = rng.integers(0, 2, array.shape) != 0
    if array.ndim:
        rows = first.reshape(-1, array.shape[-1])
        rows[1::2] = np.arange(array.shape[-1]) % 2 == 0
    return np.asarray(np.where(first, array.flat[0], array.flat[-1]))


def copied_slices(array: Array) -> Array:
    """Return the array with equal slices.

    The last row is the first one, which is not next to it. Of the other rows every second one has
    equal channels (dim 1) where there are three dims, else equal elements.
    """
    made = array.copy()
    if array.ndim > 1 and array.size:
        made[1::2] = made[1::2, :1]
    if array.ndim and len(made):
        made[-1] = made[0]
    return made


def close_together(array: Array, low: float, high: float, rng: np.random.Generator) -> Array:
    """Return the elements at small distances from a number of each row, within [low, high].

    A row of up to 4 numbers is a point or a box: all are near to one of them. `array`: standard
    normal, or uniform in the range.
    """
    unbounded = not np.isfinite(high - low)
    points = array.ndim > 1 and array.shape[-1] <= COORDINATES
    rows = (1,) * (array.ndim - 1) if points else array.shape[:-1]
    size = (*rows, array.shape[-1] if points else 1) if array.ndim else ()
    spread = 10.0 ** rng.uniform(*SPREAD, size)
    if unbounded:
        centre = 10.0 ** rng.uniform(*CENTRES, size)
        return np.asarray(centre * (1 + array * spread))
    part = (array - low) / max(high - low, np.finfo(np.float64).tiny) - 0.5
    centre = low + (high - low) * rng.uniform(0.5, 1.0, size)
    return np.asarray(np.clip(centre + part * spread * (high - low), low, high))


def close_integers(low: int, high: int, shape: tuple[int, ...], rng: np.random.Generator) -> Array:
    """Return an integer for each place of dim 0, up to two more: a flat part of a picture.

    In every other one the first element alone is one more.
    """
    if 0 in shape:
        return np.zeros(shape, np.int64)
    rows = (shape[0] if len(shape) > 1 else 1, *[1] * (len(shape) - 1)) if shape else ()
    base = rng.integers(low, max(high - 2, low), rows, endpoint=True, dtype=np.int64)
    more = np.asarray(rng.integers(0, 3, shape, dtype=np.int64))
    if shape:
        flat = more.reshape(rows[0], -1)
        flat[1::2, 1:], flat[1::2, :1] = 0, 1
    return np.asarray(np.minimum(base + more, high))


def drifting_rows(array: Array, rng: np.random.Generator, *, moving: bool) -> Array:
    """Return the array with rows that move on by equal steps, between its smallest and largest.

    Points and boxes are rows of up to 4 numbers, and move along the dim before; the corners of a
    box are in order, and move together. Otherwise the last dim is a series. `moving`: False for
    steps of 0.
    """
    if not array.ndim or not array.size:
        return array
    points = array.ndim > 1 and array.shape[-1] <= COORDINATES
    axis = array.ndim - 1 - points
    numbers = array.astype(np.float64)
    low, high = float(numbers.min()), float(numbers.max())
    first = numbers.take([0], axis)
    step = rng.uniform(-1, 1, first.shape) * LONGEST_STEP * (high - low) * moving
    if points and array.shape[-1] == COORDINATES:
        corners = first.reshape(*first.shape[:-1], 2, 2)
        first = np.concatenate([corners.min(-2), corners.max(-2)], -1)
        step[..., 2:] = step[..., :2]
    places = np.arange(array.shape[axis]).reshape(-1, *[1] * points)
    made = np.clip(first + places * step, low, high)
    whole = array.dtype.kind in "iu"  # bfloat16 is of no kind of numpy's
    return (np.rint(made) if whole else made).astype(array.dtype)


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


def far_rows(normal: Array, rng: np.random.Generator) -> Array:
    """Return an array with far larger and smaller numbers: single ones, and every other row whole.

    The norm of a row is small only if all of its elements are.
    """
    near = rng.integers(0, 2, normal.shape) == 0
    single = np.where(near, normal, np.copysign(10.0 ** rng.uniform(*POWERS, normal.shape), normal))
    if normal.ndim == 0:
        return single
    rows = normal.shape[:-1]
    whole = normal * 10.0 ** rng.uniform(*POWERS, (*rows, 1))
    every_other = (np.arange(int(np.prod(rows))) % 2 == 1).reshape(*rows, 1)
    return np.where(every_other, whole, single)


def alike(first: Array, own: Array, low: float, high: float) -> Array:
    """Return the elements of `first` in the shape of `own`: equal, nearly so, opposite, by rows.

    Integers differ by one, and by one element of a row. What is outside of the range stays as it
    is.
    """
    taken = np.resize(first, own.shape)
    length = max(own.shape[-1], 1) if own.ndim > 1 else 1
    row, column = np.divmod(np.arange(own.size).reshape(own.shape), length)
    if own.dtype.kind in "iu":
        moved = taken + (row % INTEGER_KINDS == 1).astype(own.dtype)
        if length > 1:
            single = (row % INTEGER_KINDS == INTEGER_KINDS - 1) & (
                column == row // INTEGER_KINDS % length
            )
            moved = np.where(single, own, moved)
    else:
        steps = np.array(NEARLY)[row % len(NEARLY)]
        moved = (taken * (1 + steps)).astype(own.dtype)
    return np.where((moved >= low) & (moved <= high), moved, own)


def small_rows(array: Array, low: float, high: float, rng: np.random.Generator) -> Array:
    """Return the array with each example scaled down, as far as the range allows.

    Examples lie along the first dim.
    """
    size = (len(array), *(1,) * (array.ndim - 1)) if array.ndim > 1 else ()
    return np.clip(array * 10.0 ** rng.uniform(*SMALL_POWERS, size), low, high)


def each_integer(low: int, high: int, shape: tuple[int, ...], number: int) -> Array:
    """Return the integers of [low, high] in order, as if all samples were one array."""
    size = int(np.prod(shape, dtype=np.int64))
    # The width of int64 is no int64, but no sample comes near its end.
    places = (number * size + np.arange(size, dtype=np.int64)) % min(high - low + 1, 2**62)
    return np.asarray((low + places).reshape(shape))


def sparse_rows(array: Array, level: Array, rng: np.random.Generator) -> Array:
    """Return `level` with a few elements of the other array in each example: few pieces on a board.

    Examples lie along the first dim; one element at least, a quarter of them at most.
    """
    if not array.size:
        return array
    made = level.copy().reshape(len(array) if array.ndim > 1 else 1, -1)
    drawn = array.reshape(made.shape)
    most = max(made.shape[1] / SPARSE_PART, 1.0)
    for example, own in zip(made, drawn, strict=True):
        count = int(np.exp(rng.uniform(0, np.log(most + 1))))
        places = rng.choice(example.size, min(count, example.size), replace=False)
        example[places] = own[places]
    return made.reshape(array.shape)
