"""Estimates the model's own rounding error from its runs in perturbed arithmetic: pure.

The model in float64 and the model rounded at random differ from eager PyTorch. A small distance is
the model's noise. A large one means that the element depends on rounding (an argmax over two equal
scores, a pixel on an edge): it is unsettled, and comparing it is meaningless.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]


@dataclass(frozen=True)
class Settled:
    """The noise of an output, and its elements that depend on rounding."""

    noise: float
    """The largest absolute distance of a settled element."""
    unsettled: Array | None
    """A mask over the flat output; None where every element is settled."""
    farthest: float = 0.0
    """The largest absolute distance of any element."""

    @property
    def count(self) -> int:
        """Return how many elements are unsettled."""
        return 0 if self.unsettled is None else int(np.count_nonzero(self.unsettled))


class NoiseEstimate:
    """The distances between one output of eager and those of the runs in perturbed arithmetic."""

    def __init__(self, expected: Array) -> None:
        self._expected = expected.reshape(-1)
        self._shape = expected.shape
        self._moved = np.zeros(expected.size, np.float32)
        self._by_kernels: Array | None = None
        self.runs = 0
        """Number of outputs that were added."""
        self.reshaped = False
        """Whether one of them had another shape, which then depends on rounding."""

    def add(self, output: Array) -> None:
        """Add the output of a run in perturbed arithmetic, of any floating-point dtype."""
        self.runs += 1
        if output.shape != self._shape:
            self.reshaped = True
            moved = _to_nearest(self._expected, output.reshape(-1))
        else:
            moved = _distance(self._expected, output.reshape(-1))
        np.maximum(self._moved, moved, out=self._moved)

    def add_kernel_errors(self, output: Array) -> None:
        """Add the output of a run with absolute errors of kernels: part of the noise of slices."""
        if output.shape == self._shape:
            self._by_kernels = _distance(self._expected, output.reshape(-1))

    def kernel_noise(self, settled: Settled) -> float:
        """Return the largest error of kernels, over the settled elements."""
        if self._by_kernels is None:
            return 0.0
        kept = np.isfinite(self._by_kernels)
        if settled.unsettled is not None:
            kept &= ~settled.unsettled
        return float(self._by_kernels[kept].max(initial=0.0))

    def noise_along(self, axis: int, settled: Settled | None = None) -> Array:
        """Return the noise of each slice along an axis, over its settled elements."""
        moved = self._moved
        if self._by_kernels is not None:
            moved = np.maximum(moved, self._by_kernels)
        if settled is not None and settled.unsettled is not None:
            moved = np.where(settled.unsettled, 0, moved)
        others = tuple(place for place in range(len(self._shape)) if place != axis)
        return np.asarray(moved.reshape(self._shape).max(axis=others, initial=0.0))

    def elements_along(self, axis: int) -> int:
        """Return how many distances the noise of each slice along an axis is of."""
        size: int = self._shape[axis]
        return self._moved.size // max(size, 1) * self.runs

    def settled(self, bound: float) -> Settled:
        """Return the noise; elements that moved farther than `bound` (absolute) are unsettled."""
        unsettled = self._moved > np.float32(bound)
        farthest = float(self._moved.max(initial=0.0))
        if not unsettled.any():
            return Settled(farthest, None, farthest)
        return Settled(float(self._moved[~unsettled].max(initial=0.0)), unsettled, farthest)


def _to_nearest(expected: Array, found: Array) -> Array:
    """Return the distances to the nearest numbers of a run that found more results or fewer.

    A result that rounding adds or removes shifts those after it, which are no errors. Of many
    results this is less than their noise, so that an error is found rather than excused; those that
    the run has not are as far as can be.
    """
    numbers = np.sort(found[np.isfinite(found)].astype(np.float64))
    if not numbers.size or not expected.size:
        return np.zeros(expected.shape, np.float32)
    wanted = expected.astype(np.float64)
    after = np.searchsorted(numbers, wanted).clip(0, numbers.size - 1)
    below, above = numbers[np.maximum(after - 1, 0)], numbers[after]
    with np.errstate(invalid="ignore"):
        nearest = np.where(np.abs(wanted - below) <= np.abs(above - wanted), below, above)
    distances = _distance(expected, np.where(np.isfinite(wanted), nearest, wanted))
    lacking = max(expected.size - found.size, 1)
    farthest = np.argsort(distances)[-lacking:]
    distances[farthest] = np.where(distances[farthest] > 0, np.inf, 0)
    return distances


def _distance(one: Array, other: Array) -> Array:
    """Return the distances as float32, rounded up; infinite where NaN or infinities differ."""
    with np.errstate(invalid="ignore", over="ignore"):
        first, second = one.astype(np.float64), other.astype(np.float64)
        same = (first == second) | (np.isnan(first) & np.isnan(second))
        apart = np.where(same, 0.0, np.abs(first - second))
        apart[np.isnan(apart)] = np.inf
        return np.nextafter(
            apart.astype(np.float32),
            np.float32(np.inf),
            where=apart > 0,
            out=np.zeros(apart.shape, np.float32),
        )
