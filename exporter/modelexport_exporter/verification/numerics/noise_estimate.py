"""How far an output moves when the model itself is rounded otherwise: pure, on numpy arrays.

The model in float64 and the model rounded at random give other results than eager PyTorch. Where
they stay close, their distance is the noise that the model has by itself. Where they do not, the
element hangs on rounding (an argmax over two equal scores, a pixel on an edge): it is unsettled,
and nothing can be told by it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]


@dataclass(frozen=True)
class Settled:
    """What the runs with other roundings say about an output."""

    noise: float
    """The largest distance of an element that is settled."""
    unsettled: Array | None
    """A mask over the flat output; None where every element is settled."""

    @property
    def count(self) -> int:
        """Return how many elements are unsettled."""
        return 0 if self.unsettled is None else int(np.count_nonzero(self.unsettled))


class NoiseEstimate:
    """The distances between one output of eager and the model's other results."""

    def __init__(self, expected: Array) -> None:
        self._expected = expected.reshape(-1)
        self._shape = expected.shape
        self._moved = np.zeros(expected.size, np.float32)
        self.runs = 0
        """How many other results were taken in."""
        self.reshaped = False
        """Whether one of them had another shape: it depends on values that rounding changes."""

    def add(self, own: Array) -> None:
        """Take in another result, of any floating-point type."""
        self.runs += 1
        if own.shape != self._shape:
            self.reshaped = True
            return
        np.maximum(self._moved, _distance(self._expected, own.reshape(-1)), out=self._moved)

    def settled(self, bound: float) -> Settled:
        """Tell the noise, and which elements moved farther than `bound`."""
        unsettled = self._moved > np.float32(bound)
        if not unsettled.any():
            return Settled(float(self._moved.max(initial=0.0)), None)
        return Settled(float(self._moved[~unsettled].max(initial=0.0)), unsettled)


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
