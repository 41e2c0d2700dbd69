"""Whether the artifact and eager agree on one sample, and what makes a difference harmless.

A difference within the floor of the dtype is none. Beyond it, the model itself is run with other
roundings, as often as it takes to explain the difference and at most MOST_RUNS times: the artifact
may err a multiple of what the model errs, and elements that hang on rounding do not count. What
remains is a mismatch, unless only ties differ. Each run costs a few eager ones, so only samples
that differ pay for it, and one that tells the model's noise.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from modelexport_api.spec import ModelExportSpec
from modelexport_exporter.core.machine import free_memory, peak_memory
from modelexport_exporter.core.types import OutputComparison, SampleComparison
from modelexport_exporter.precision.losses import Losses
from modelexport_exporter.precision.noise import Simulation
from modelexport_exporter.verification.numerics.compare import compare_output, is_float, peak_of
from modelexport_exporter.verification.numerics.noise_estimate import NoiseEstimate
from modelexport_exporter.verification.numerics.perturbed_arithmetic import (
    PerturbedArithmeticUnavailable,
)
from modelexport_exporter.verification.numerics.ties import break_ties, ranks
from modelexport_exporter.verification.numerics.tolerance import Source, Tolerance, choose_tolerance
from modelexport_exporter.verification.reference import EagerReference
from modelexport_exporter.verification.samples.randomness import distance, told_to_be_random
from modelexport_exporter.verification.samples.sizes import DEGENERATE, ORDINARY, Sample, Values
from modelexport_exporter.verification.verdict import NOT_AS_RECORDED

Array = NDArray[Any]
Named = list[tuple[str, Array]]
RunFile = Callable[[Mapping[str, Array], str], Named]
"""Runs the artifact on arrays; `where` says in a failure's message which they are."""

MOST_RUNS = 9
"""In float64 once, then rounded at random."""
ENOUGH_TO_MEET = 3
"""If an output has elements that hang on rounding, so many runs meet one of them."""
ENOUGH_TO_MEASURE = 5
"""So many runs tell the noise of an output that has none; more would hardly raise it."""
HOPELESS = 100.0
"""An error so many times the limit is not explained by one more run."""
MEMORY_FACTOR = 3
"""A run in float64 takes at most so many times the memory that samples took so far."""
SECONDS = 20.0
"""What all runs with other roundings may take together."""


class Comparator:
    """Compares samples; remembers what earlier ones told about each output."""

    def __init__(
        self,
        spec: ModelExportSpec,
        reference: EagerReference,
        run_file: RunFile,
        operators: Collection[str],
        clock: Callable[[], float] = time.monotonic,
        *,
        simulation: Simulation | None = None,
    ) -> None:
        """Compare outputs. `simulation`: of the file's precision where it is reduced."""
        self._spec = spec
        self._reference = reference
        self._run_file = run_file
        self._ranks = ranks(operators)
        self._clock = clock
        self._ordinary_peaks: dict[str, float] = {}
        self._noise: dict[str, float] = {}
        """The largest noise of each output so far, relative to its peak."""
        self._mismatched: set[str] = set()
        """Outputs that rounding did not explain once: no further run looks for an explanation."""
        self._spent = 0.0
        self._memory_before = peak_memory()
        self._simulation = simulation
        self.losses = Losses()
        """What a precision that is not the model's own costs."""
        self.calibrated = True
        """Whether the model runs with other roundings than its own."""

    def compare_sample(
        self,
        sample: Sample,
        arrays: Mapping[str, Array],
        where: str,
        *,
        recorded: Mapping[str, Array],
        measure: bool = False,
    ) -> SampleComparison | None:
        """Compare both on a sample; None where it asks for what the model does not answer.

        `recorded`: outputs that have to come out. `measure`: learn the model's noise even where
        both agree.
        """
        expected = self._reference.run(arrays, where)
        if sample.values is Values.WITH_NAN and not self._answers_nan(arrays, expected):
            return None
        got = self._run_file(arrays, where)
        outputs, kind = self._compare(sample, arrays, expected, got, measure=measure), sample.label
        if any(output.problem for output in outputs):
            apart = self._without_ties(sample, arrays, where)
            if apart is not None and not any(output.problem for output in apart):
                outputs, kind = apart, f"{kind}, ties broken"
        if recorded:
            outputs = self._against_recorded(outputs, expected, recorded)
        return SampleComparison(sample.dims, sample.seed, tuple(outputs), kind)

    def _compare(
        self,
        sample: Sample,
        arrays: Mapping[str, Array],
        expected: list[Array],
        got: Named,
        *,
        measure: bool = False,
    ) -> list[OutputComparison]:
        if len(expected) != len(got):
            problem = f"the file returns {len(got)} outputs, eager {len(expected)}"
            return [OutputComparison(got[0][0] if got else "", 0.0, 0.0, 0.0, problem)]
        estimates = [NoiseEstimate(array) for array in expected]
        compared = self._compare_all(sample, expected, got, estimates)
        if any(output.problem for output in compared):
            again = self._reference.run(arrays, "the same sample again")
            if apart := distance(expected, again):
                return told_to_be_random(compared, apart)
        for run in range(MOST_RUNS):
            wanted = any(
                _explainable(output, run)
                for output in compared
                if output.output not in self._mismatched
            )
            unmeasured = measure and not any(estimate.runs for estimate in estimates)
            if not (wanted or unmeasured) or not self._add_run(arrays, estimates, run):
                break
            compared = self._compare_all(sample, expected, got, estimates)
        self._mismatched |= {output.output for output in compared if output.problem}
        if sample.values in ORDINARY:
            self._remember(compared)
            if self._simulation is not None:
                for want, (name, have) in zip(expected, got, strict=True):
                    self.losses.add(name, want, have)
        return compared

    def _add_run(
        self, arrays: Mapping[str, Array], estimates: list[NoiseEstimate], run: int
    ) -> bool:
        """Run the model with other roundings; return whether that told anything."""
        if not self.calibrated:
            return False
        if self._is_too_dear():
            if any(estimate.runs for estimate in estimates):
                return False
            self.calibrated = False
            return True  # compared anew with the floors for models like this
        started = self._clock()
        try:
            if self._simulation is not None:
                results = self._reference.in_precision(arrays, self._simulation, run)
            elif run:
                results = self._reference.rounded_at_random(arrays, run)
            else:
                results = self._float64_or_nothing(arrays)
        except PerturbedArithmeticUnavailable:
            self.calibrated = False
            return True
        finally:
            self._spent += self._clock() - started
        for estimate, result in zip(estimates, results, strict=False):
            estimate.add(result)
        return True

    def _is_too_dear(self) -> bool:
        """Tell whether there is no time or no memory for another run."""
        needed = MEMORY_FACTOR * (peak_memory() - self._memory_before)
        return self._spent > SECONDS or needed > free_memory()

    def _float64_or_nothing(self, arrays: Mapping[str, Array]) -> list[Array]:
        try:
            return self._reference.in_float64(arrays)
        except PerturbedArithmeticUnavailable:
            return []

    def _compare_all(
        self, sample: Sample, expected: list[Array], got: Named, estimates: list[NoiseEstimate]
    ) -> list[OutputComparison]:
        return [
            self._compare_one(sample, name, want, have, estimate)
            for want, (name, have), estimate in zip(expected, got, estimates, strict=True)
        ]

    def _compare_one(
        self, sample: Sample, name: str, want: Array, have: Array, estimate: NoiseEstimate
    ) -> OutputComparison:
        degenerate = sample.values in DEGENERATE
        ordinary = self._ordinary_peaks.get(name, 0.0) if degenerate else 0.0
        if sample.values is Values.NORMAL and is_float(want.dtype):
            self._ordinary_peaks[name] = max(peak_of(want), self._ordinary_peaks.get(name, 0.0))
        return compare_output(
            name,
            want,
            have,
            self._tolerance(name, want),
            ordinary_peak=ordinary,
            estimate=estimate,
        )

    def _tolerance(self, name: str, want: Array) -> Tolerance:
        tolerance = choose_tolerance(
            self._spec.verification.tolerance,
            want.dtype.name,
            self._reference.float_dtypes,
            calibrated=self.calibrated,
            precision=self._spec.export.precision,
        )
        known = tolerance.multiple * self._noise.get(name, 0.0)
        return replace(tolerance, rtol=max(tolerance.rtol, known))

    def _remember(self, compared: list[OutputComparison]) -> None:
        for output in compared:
            if output.noise is not None and not output.inconclusive:
                self._noise[output.output] = max(output.noise, self._noise.get(output.output, 0.0))

    def _answers_nan(self, arrays: Mapping[str, Array], expected: list[Array]) -> bool:
        """Tell whether the model means to take NaN: it looks for it and returns numbers."""
        numbers = all(is_float(array.dtype) and not np.isnan(array).any() for array in expected)
        return numbers and self._reference.handles_nan(arrays)

    @property
    def tolerance_source(self) -> Source:
        """Return where the limits of floating-point outputs come from."""
        declared = self._spec.verification.tolerance
        return choose_tolerance(declared, "float32", calibrated=self.calibrated).source

    def _against_recorded(
        self,
        outputs: list[OutputComparison],
        expected: list[Array],
        recorded: Mapping[str, Array],
    ) -> list[OutputComparison]:
        """Say so where eager itself does not return what was recorded."""
        judged = []
        for output, eager in zip(outputs, expected, strict=True):
            golden = recorded.get(output.output)
            if golden is not None and not output.problem:
                tolerance = choose_tolerance(
                    self._spec.verification.tolerance,
                    eager.dtype.name,
                    self._reference.float_dtypes,
                    calibrated=False,
                )
                found = compare_output(output.output, golden, eager, tolerance)
                if found.problem:
                    output = replace(output, problem=f"{NOT_AS_RECORDED}: {found.problem}")  # noqa: PLW2901
            judged.append(output)
        return judged

    def _without_ties(
        self, sample: Sample, arrays: Mapping[str, Array], where: str
    ) -> list[OutputComparison] | None:
        """Compare the sample again with its ties broken, if ties may be all that differs."""
        if not self._ranks:
            return None
        apart = break_ties(self._spec.inputs, arrays, sample.seed)
        if apart is None:
            return None
        where = f"{where}, ties broken"
        expected = self._reference.run(apart, where)
        return self._compare(sample, apart, expected, self._run_file(apart, where))


def _explainable(output: OutputComparison, runs: int) -> bool:
    """Tell whether one more run, after so many, may show that rounding makes the difference."""
    if not output.problem or output.only == "dtype":
        return False
    if runs < ENOUGH_TO_MEET or output.unsettled:
        return True
    return runs < ENOUGH_TO_MEASURE and output.max_abs_error <= HOPELESS * output.limit
