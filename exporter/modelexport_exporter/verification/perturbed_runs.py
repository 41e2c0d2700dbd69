"""Runs of the original model in perturbed arithmetic, within a budget of time and memory."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from numpy.typing import NDArray

from modelexport_exporter.core.machine import free_memory
from modelexport_exporter.verification.numerics.noise_estimate import NoiseEstimate
from modelexport_exporter.verification.original import Original

Array = NDArray[Any]

MEMORY_FACTOR = 3
"""A run in float64 takes at most so many times the memory that samples took so far."""
SECONDS = 20.0
"""Time budget of all runs together."""
ROUNDINGS = 4
"""Runs that are rounded at random, of which one has to raise where the file does."""


class PerturbedRuns:
    """Runs the model once in float64, then rounded at random, or in a simulated precision."""

    def __init__(self, original: Original, *, simulated: bool) -> None:
        self._original = original
        self._simulated = simulated
        self._kernels_err = not simulated
        """False once a run showed that the model calls no op whose kernel has absolute errors."""
        self._spent = 0.0
        self._memory_before = original.peak_memory()
        self.available = True
        """Whether the model runs in perturbed arithmetic."""

    def add(self, arrays: Mapping[str, Array], estimates: list[NoiseEstimate], run: int) -> bool:
        """Run the model and add its outputs; return whether to compare again.

        `run`: counts from 0 for each sample.
        """
        if not self.available:
            return False
        if self._exceeds_budget():
            if any(estimate.runs for estimate in estimates):
                return False
            self.available = False
            return True  # compared again, with the limits of UNCALIBRATED
        started = self._original.clock()
        results = self._original.perturbed(arrays, run)
        self._spent += self._original.clock() - started
        if results is None:
            self.available = False
            return True
        for estimate, result in zip(estimates, results, strict=False):
            estimate.add(result)
        if run == 1:
            self._add_kernel_errors(arrays, estimates)
        return True

    def rounding_decides_errors(self, arrays: Mapping[str, Array]) -> bool:
        """Return whether the model raises when it is rounded at random, and not in float64."""
        if self._simulated or not self.available or self._exceeds_budget():
            return False
        started = self._original.clock()
        raises = self._original.perturbed(arrays, 0) is not None and any(
            self._original.perturbed(arrays, run) is None for run in range(1, ROUNDINGS + 1)
        )
        self._spent += self._original.clock() - started
        return raises

    def _add_kernel_errors(
        self, arrays: Mapping[str, Array], estimates: list[NoiseEstimate]
    ) -> None:
        """Add a run with absolute errors of kernels, if the model calls any that has them."""
        if not self._kernels_err:
            return
        results = self._original.with_kernel_errors(arrays)
        self._kernels_err = results is not None
        for estimate, result in zip(estimates, results or (), strict=False):
            estimate.add_kernel_errors(result)

    def _exceeds_budget(self) -> bool:
        """Return whether there is no time or no memory for another run."""
        needed = MEMORY_FACTOR * (self._original.peak_memory() - self._memory_before)
        return self._spent > SECONDS or needed > free_memory()
