"""Slices of an output that have magnitudes of their own: pure, on numpy arrays.

A probability in one column may not be off by 1e6 times the limit because another column holds
prices of 1e6. Where the peaks of an output's columns (last dim), channels (dim 1) or stacked parts
(dim 0, of a fixed size) differ by more than ALIKE, each has a limit of its own. A slice counts only
after enough ordinary elements: the peak of few is chance.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from modelexport_exporter.verification.numerics.noise_estimate import NoiseEstimate

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
    noises: Array | float = 0.0
    """The largest noise of each slice that earlier ordinary samples showed, absolute."""
    measured: int = 0
    """Elements of each slice that this noise is of."""

    def of_flat(self, shape: tuple[int, ...], start: int, stop: int) -> Array:
        """Return the index of the slice of each element [start, stop) of the flat output."""
        stride = int(np.prod(shape[self.axis + 1 :], dtype=np.int64))
        return (np.arange(start, stop) // stride) % shape[self.axis]

    def noises_with(self, noises: Array, elements: int) -> Array:
        """Return the noise of each slice, measured now on so many elements of each, and earlier.

        One number says little of how far a slice may move: slices of few elements share the noise
        of those of like magnitude.
        """
        largest = np.maximum(noises, self.noises)
        few = 0 < elements + self.measured < ENOUGH
        return self._largest_of_alike(largest) if few else largest

    def _largest_of_alike(self, values: Array) -> Array:
        """Return for each slice the largest value of those of like magnitude: up to 4 times apart.

        `values`: one for each slice. Groups are powers of 4, so that some scales up to 64 times
        apart count as alike, too.
        """
        groups = np.floor(np.log2(self.scales) / 2).astype(np.int64)
        groups -= int(groups.min()) - 1
        largest = np.zeros(int(groups.max()) + 2, values.dtype)
        np.maximum.at(largest, groups, values)
        neighbours = np.maximum(largest[groups - 1], largest[groups + 1])
        return np.asarray(np.maximum(largest[groups], neighbours))


@dataclass
class _Met:
    """What earlier ordinary samples showed of the slices along an axis."""

    peaks: Array | float = 0.0
    elements: int = 0
    """Elements of each slice that the peaks are of."""
    noises: Array | float = 0.0
    measured: int = 0
    """Elements of each slice that the noises are of."""


class SlicePeaks:
    """The peaks of an output's slices over the ordinary samples so far."""

    def __init__(self) -> None:
        self._met: defaultdict[tuple[int, int], _Met] = defaultdict(_Met)
        """By axis and size."""

    def slices(self, array: Array, varying: Collection[int], *, ordinary: bool) -> Slices | None:
        """Return the slices of an output with scales of their own; None where all are alike.

        `varying`: sizes of dynamic dims; an axis of such a size has no fixed meaning.
        """
        found = [
            entry
            for axis in _axes(array, varying)
            if (entry := self._along(array, axis, ordinary=ordinary)) is not None
        ]
        return min(found, key=lambda entry: float(entry.scales.min()), default=None)

    def add_noise(self, array: Array, varying: Collection[int], estimate: NoiseEstimate) -> None:
        """Remember an output's noise, of which every element is settled."""
        for axis in _axes(array, varying):
            met = self._met[axis, array.shape[axis]]
            met.noises = np.maximum(met.noises, estimate.noise_along(axis))
            met.measured += estimate.elements_along(axis)

    def _along(self, array: Array, axis: int, *, ordinary: bool) -> Slices | None:
        size = array.shape[axis]
        met = self._met[axis, size]
        others = tuple(place for place in range(array.ndim) if place != axis)
        magnitudes = np.abs(array.astype(np.float64))
        peaks = np.where(np.isfinite(magnitudes), magnitudes, 0.0).max(axis=others)
        peaks = np.maximum(peaks, met.peaks)
        elements = met.elements + array.size // size
        if ordinary:
            met.peaks, met.elements = peaks, elements
        largest = float(peaks.max())
        if elements < ENOUGH or float(peaks.min()) * ALIKE >= largest or largest <= SMALLEST_SCALE:
            return None
        own = np.maximum(peaks, SMALLEST_SCALE)
        scales = np.where(peaks * ALIKE >= largest, largest, own)
        return Slices(axis, scales, met.noises, met.measured)


def _axes(array: Array, varying: Collection[int]) -> list[int]:
    """Return the axes whose places have a meaning: columns, channels, stacked parts."""
    return [
        axis
        for axis in dict.fromkeys((array.ndim - 1, 1, 0))
        if 0 <= axis < array.ndim and array.size
        if 1 < array.shape[axis] <= MOST_SLICES and array.shape[axis] not in varying
    ]
