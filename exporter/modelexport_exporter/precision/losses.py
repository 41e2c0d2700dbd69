"""Accumulates the accuracy lost to a precision over samples."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from modelexport_exporter.core.accuracy_loss import AccuracyLoss

Array = NDArray[Any]
CLASSES = 2
"""Rows with at least so many elements are also compared by the index of the largest."""


class Losses:
    """Accumulates the errors of each output."""

    def __init__(self) -> None:
        self._max: dict[str, float] = {}
        self._errors: dict[str, list[float]] = {}
        self._same: dict[str, list[int]] = {}

    def add(self, name: str, expected: Array, got: Array) -> None:
        """Add one output of one sample; outputs that cannot be compared are ignored."""
        if expected.shape != got.shape or not expected.size or expected.dtype.kind not in "fV":
            return
        want, have = expected.astype(np.float64), got.astype(np.float64)
        finite = np.isfinite(want) & np.isfinite(have)
        peak = float(np.abs(want[finite]).max(initial=0.0))
        if not peak:
            return
        errors = np.abs(np.where(finite, want - have, 0.0)) / peak
        self._max[name] = max(float(errors.max()), self._max.get(name, 0.0))
        self._errors.setdefault(name, []).append(float(errors.mean()))
        if want.ndim > 1 and want.shape[-1] >= CLASSES:
            same = want.argmax(-1) == have.argmax(-1)
            known = self._same.setdefault(name, [0, 0])
            known[0] += int(same.sum())
            known[1] += same.size

    def all(self) -> tuple[AccuracyLoss, ...]:
        """Return the loss of each output."""
        return tuple(
            AccuracyLoss(
                output=name,
                max_rel_error=self._max[name],
                mean_rel_error=float(np.mean(self._errors[name])),
                top1=self._same[name][0] / self._same[name][1] if name in self._same else None,
                rows=self._same.get(name, [0, 0])[1],
            )
            for name in self._max
        )
