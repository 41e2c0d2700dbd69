"""Draws numbers over all magnitudes of a range, and integers where arithmetic in floats ends.

A uniform number of [-1000, 1000] is below 10 in 1 of 100 draws only, and ids of a vocabulary are
rare at its ends: what a model does there shows in samples like these.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]

MAGNITUDES = 6
"""Powers of ten between the largest and the smallest distance from zero, or from the lower end."""
EXACT_UP_TO = (2**24, 2**31, 2**53)
"""float32 counts no further than the first in steps of one, int32 ends at the second, float64
counts to the third: integer arithmetic that goes through one of these is inexact there."""


def spread_floats(
    low: float, high: float, shape: tuple[int, ...], rng: np.random.Generator
) -> Array:
    """Return floats of [low, high] whose distances from zero are uniform in their logarithm.

    From the lower end where zero is not inside.
    """
    anchor = 0.0 if low <= 0 <= high else low
    upwards, downwards = high - anchor, anchor - low
    share = upwards / (upwards + downwards) if upwards + downwards else 1.0
    up = rng.random(shape) < share
    distance = 10.0 ** rng.uniform(-MAGNITUDES, 0.0, shape)
    spread = anchor + np.where(up, upwards, -downwards) * distance
    return np.asarray(np.clip(spread, low, high))


def spread_integers(low: int, high: int, shape: tuple[int, ...], rng: np.random.Generator) -> Array:
    """Return integers of [low, high] by the logarithm of their distance from either end, or from 0.

    Both ends are of int64.
    """
    span = high - low
    exponents = rng.uniform(0.0, min(math.log2(span + 1), 63.0), shape)
    # Offsets from `low` without a sign: the width of int64 is no int64.
    distance = np.minimum((2.0**exponents - 1).astype(np.uint64), np.uint64(span))
    offsets = np.where(rng.integers(0, 2, shape), distance, np.uint64(span) - distance)
    if low < 0 < high:
        above = np.minimum(distance, np.uint64(high)) + np.uint64(-low)
        below = np.uint64(-low) - np.minimum(distance, np.uint64(-low))
        around = np.where(rng.integers(0, 2, shape), above, below)
        offsets = np.where(rng.integers(0, 3, shape) == 0, around, offsets)
    return np.asarray(np.asarray(offsets + np.uint64(low % 2**64)).astype(np.int64))


def near_limits(low: int, high: int, shape: tuple[int, ...], rng: np.random.Generator) -> Array:
    """Return integers of [low, high] at most 1 from a limit of EXACT_UP_TO, an end, or 0."""
    limits = [limit * sign for limit in EXACT_UP_TO for sign in (1, -1)]
    near = {limit + step for limit in (*limits, low, high, 0) for step in (-1, 0, 1)}
    inside = sorted(value for value in near if low <= value <= high)
    return np.asarray(np.array(inside, dtype=np.int64)[rng.integers(0, len(inside), shape)])


def has_limits_inside(low: int, high: int) -> bool:
    """Return whether `near_limits` has more than ends and 0."""
    return any(low < limit < high or low < -limit < high for limit in EXACT_UP_TO)
