"""Fingerprints of 4 KiB that show whether two arrays are equal up to rounding.

Guarantees that equal arrays have equal fingerprints whatever their shape (only the flat order of
elements counts), and that an error in many elements, or in one element and large compared with the
rounding error of its block, is found. Arrays of up to `PLACES` elements are kept whole.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
PLACES = 256
_BLOCK = 1 << 20
_FEWEST_CONDITIONS, _FEWEST_INTEGERS = 32, 6
"""Of which another array is hardly equal by chance."""
_SLACK = 4.0
"""Largest ratio of the sum of a block's rounding errors to that of a random walk."""


@dataclass(frozen=True, eq=False)
class Fingerprint:
    """The fingerprint of an array."""

    shape: tuple[int, ...]
    dtype: str
    size: int
    places: NDArray[np.float64]
    """Elements at fixed places of the flat array."""
    sums: NDArray[np.float64]
    """Sums of blocks with random signs, divided by the length of a random walk of that size."""
    peak: float
    low: float
    high: float
    not_finite: int

    @property
    def is_float(self) -> bool:
        """Return whether the dtype is floating-point or complex."""
        return self.dtype.startswith(("float", "bfloat", "complex"))

    @property
    def may_match_by_chance(self) -> bool:
        """Return whether a few conditions or integers, or constant ones, may equal others."""
        if self.is_float:
            return False
        fewest = _FEWEST_CONDITIONS if self.dtype == "bool" else _FEWEST_INTEGERS
        return self.size < fewest or self.low == self.high

    @property
    def is_distinctive(self) -> bool:
        """Return whether another array is unlikely to equal this one by chance."""
        if not self.is_float:
            return self.size >= PLACES and self.low != self.high and self.dtype != "bool"
        if self.size == 1:
            return self.peak > 0 and not float(self.low).is_integer()
        return self.low != self.high


def fingerprint(array: Array) -> Fingerprint:
    """Return the fingerprint of an array of numbers or booleans."""
    name, shape = array.dtype.name, array.shape
    if array.dtype.kind == "c":
        shape = (*shape, 2)
        array = np.stack([array.real, array.imag], axis=-1)
    flat = array.reshape(-1)
    ceiling = _ceiling(flat.dtype)
    places = _mask_extremes(flat[_places(flat.size)].astype(np.float64), ceiling)
    sums, low, high, not_finite = _pass(flat, ceiling)
    return Fingerprint(
        shape=tuple(shape),
        dtype=name,
        size=int(flat.size),
        places=places,
        sums=sums,
        peak=max(abs(low), abs(high)),
        low=low,
        high=high,
        not_finite=not_finite,
    )


def distance(one: Fingerprint, other: Fingerprint) -> float:
    """Return the error relative to the larger peak; infinite if they cannot be compared."""
    if one.size != other.size or one.not_finite != other.not_finite:
        return math.inf
    peak = max(one.peak, other.peak)
    here, there = np.isfinite(one.places), np.isfinite(other.places)
    if not np.array_equal(here, there):
        return math.inf
    if peak == 0 or not one.size:
        return 0.0
    error = float(np.abs(one.places[here] - other.places[here]).max(initial=0.0))
    blocks = float(np.abs(one.sums - other.sums).max(initial=0.0)) / _SLACK
    return max(error, blocks) / peak


def error_of(expected: Array, got: Array) -> float:
    """Return the largest error relative to the expected peak; infinite if not comparable."""
    if expected.shape != got.shape:
        return math.inf
    want, have = (np.asarray(array).astype(np.float64).reshape(-1) for array in (expected, got))
    finite = np.isfinite(want)
    if not np.array_equal(finite, np.isfinite(have)):
        return math.inf
    if not np.array_equal(want[~finite], have[~finite], equal_nan=True):
        return math.inf
    error = float(np.abs(want[finite] - have[finite]).max(initial=0.0))
    peak = float(np.abs(want[finite]).max(initial=0.0))
    return error / peak if peak else (1.0 if error else 0.0)


def _places(size: int) -> NDArray[np.intp]:
    if size <= PLACES:
        return np.arange(size)
    # A stride could select the same channel of every row; random places do not.
    return np.sort(np.random.default_rng(size).integers(0, size, PLACES))


@lru_cache(maxsize=1)
def _signs() -> NDArray[np.float64]:
    return np.random.default_rng(0).choice([-1.0, 1.0], _BLOCK)


def _ceiling(dtype: np.dtype[Any]) -> float:
    """Return the magnitude from which elements count as infinite: masks use either."""
    if dtype.kind == "f" or dtype.name == "bfloat16":
        return 0.99 * float(ml_dtypes.finfo(dtype).max)  # type: ignore[no-untyped-call]
    return math.inf


def _mask_extremes(values: NDArray[np.float64], ceiling: float) -> NDArray[np.float64]:
    return np.where(np.abs(values) >= ceiling, np.copysign(np.inf, values), values)


def _pass(flat: Array, ceiling: float) -> tuple[NDArray[np.float64], float, float, int]:
    """Return block sums, minimum, maximum and the number of elements that are not finite."""
    sums = np.zeros(PLACES)
    low, high, not_finite = math.inf, -math.inf, 0
    each = max(1, math.ceil(flat.size / PLACES))
    for start in range(0, flat.size, _BLOCK):
        block = _mask_extremes(flat[start : start + _BLOCK].astype(np.float64), ceiling)
        finite = np.isfinite(block)
        if not finite.all():
            not_finite += int(np.count_nonzero(~finite))
            block[~finite] = 0.0
        low, high = min(low, float(block.min())), max(high, float(block.max()))
        if flat.size > PLACES:
            owner = np.arange(start, start + block.size) // each
            sums += np.bincount(owner, block * _signs()[: block.size], minlength=PLACES)
    if not flat.size:
        low = high = 0.0
    return sums / math.sqrt(each), low, high, not_finite
