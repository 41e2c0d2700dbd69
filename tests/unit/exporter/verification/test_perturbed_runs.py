"""Whether rounding decides if a model raises an error."""

from __future__ import annotations

from typing import Any, cast

import numpy as np
import pytest

from modelexport_exporter.verification.original import Original
from modelexport_exporter.verification.perturbed_runs import ROUNDINGS, PerturbedRuns

ARRAYS = {"x": np.ones(3, np.float32)}


class Raising:
    """Raises in some of its runs, which count from 0: that one is in float64."""

    def __init__(self, *runs: int) -> None:
        self._raising = runs

    def peak_memory(self) -> int:
        return 0

    def clock(self) -> float:
        return 0.0

    def perturbed(self, arrays: Any, run: int) -> list[Any] | None:  # noqa: ANN401
        return None if run in self._raising else [arrays["x"]]


@pytest.mark.parametrize(
    ("raising", "decides"),
    [
        ((), False),
        ((1,), True),
        ((ROUNDINGS,), True),
        ((ROUNDINGS + 1,), False),
        # It runs in no perturbed arithmetic at all.
        ((0, 1, 2, 3, 4), False),
    ],
)
def test_one_of_a_few_roundings_raises(raising: tuple[int, ...], decides: bool) -> None:
    runs = PerturbedRuns(cast("Original", Raising(*raising)), simulated=False)
    assert runs.rounding_decides_errors(ARRAYS) is decides


def test_a_simulated_precision_says_nothing() -> None:
    runs = PerturbedRuns(cast("Original", Raising(1)), simulated=True)
    assert not runs.rounding_decides_errors(ARRAYS)
