"""Slices of an output that have magnitudes of their own: pure, on numpy arrays.

A probability in one column may not be off by 1e6 times the limit because another column holds
prices of 1e6. Where the peaks of an output's columns (last dim), channels (dim 1) or stacked parts
(dim 0, of a fixed size) differ by more than ALIKE, each has a limit of its own. A slice counts only
after enough ordinary elements: the peak of few is chance.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]

ALIKE = 16.0
"""Slices whose peak is at least the largest one divided by this have the output's limit."""
ENOUGH = 32
"""Elements of a slice that its peak is taken from, at least."""
SMALLEST_SCALE = 1e-3
"""No slice counts as smaller: of probabilities that are nearly 0, rounding is most."""
MOST_SLICES = 4096


@dataclass(frozen=True)
class Slices:
    """One axis of an output, and the scale of each slice along it."""

    axis: int
    scales: Array
    """float64 [size of the axis]"""

    def of_flat(self, shape: tuple[int, ...], start: int, stop: int) -> Array:
        """Return the index of the slice of each element [start, stop) of the flat output."""
        stride = int(np.prod(shape[self.axis + 1 :], dtype=np.int64))
        return (np.arange(start, stop) // stride) % shape[self.axis]


class SlicePeaks:
    """The peaks of an output's slices over the ordinary samples so far."""

    def __init__(self) -> None:
        self._peaks: dict[tuple[int, int], Array] = {}
        self._counts: dict[tuple[int, int], int] = {}

    def slices(self, array: Array, varying: Collection[int], *, ordinary: bool) -> Slices | None:
        """Return the slices of an output with scales of their own; None where all are alike.

        `varying`: sizes of dynamic dims; an axis of such a size has no fixed meaning.
        """
        found = [
            entry
            for axis in dict.fromkeys((array.ndim - 1, 1, 0))
            if 0 <= axis < array.ndim and array.size
            if 1 < array.shape[axis] <= MOST_SLICES and array.shape[axis] not in varying
            if (entry := self._along(array, axis, ordinary=ordinary)) is not None
        ]
        return min(found, key=lambda entry: float(entry.scales.min()), default=None)

    def _along(self, array: Array, axis: int, *, ordinary: bool) -> Slices | None:
        size = array.shape[axis]
        key = (axis, size)
        others = tuple(place for place in range(array.ndim) if place != axis)
        magnitudes = np.abs(array.astype(np.float64))
        peaks = np.where(np.isfinite(magnitudes), magnitudes, 0.0).max(axis=others)
        peaks = np.maximum(peaks, self._peaks.get(key, 0.0))
        count = self._counts.get(key, 0) + array.size // size
        if ordinary:
            self._peaks[key], self._counts[key] = peaks, count
        largest = float(peaks.max())
        if count < ENOUGH or float(peaks.min()) * ALIKE >= largest or largest <= SMALLEST_SCALE:
            return None
        own = np.maximum(peaks, SMALLEST_SCALE)
        return Slices(axis, np.where(peaks * ALIKE >= largest, largest, own))
