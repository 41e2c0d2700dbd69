"""Compares the artifact with eager PyTorch on one sample, and excuses harmless differences.

A difference within the dtype's floor is accepted. For a larger one the original model runs in
perturbed arithmetic, until the difference is explained and at most MAX_RUNS times: the artifact's
error may be a multiple of the model's own rounding error, and elements that depend on rounding do
not count. Where only rankings differ, eager ranks equal values as ONNX specifies. What remains is a
mismatch. Each run costs a few eager ones, so only samples that differ need them, and one sample
that measures the model's noise.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from contextlib import ExitStack
from dataclasses import replace
from typing import Any

from numpy.typing import NDArray

from modelexport_api.reasons import Reason
from modelexport_api.spec import ModelExportSpec
from modelexport_exporter.core.comparison import (
    OutputComparison,
    Problem,
    ProblemKind,
    SampleComparison,
)
from modelexport_exporter.core.errors import ExportFailure
from modelexport_exporter.core.sample import FAR_NUMBERS, ORDINARY, Sample
from modelexport_exporter.precision.losses import Losses
from modelexport_exporter.verification.checked_facts import FactsContradictError
from modelexport_exporter.verification.flags_met import FlagsMet
from modelexport_exporter.verification.further_runs import MAX_RUNS, may_explain
from modelexport_exporter.verification.numerics.arithmetic import EXACT, Arithmetic
from modelexport_exporter.verification.numerics.compare import compare_output
from modelexport_exporter.verification.numerics.noise_estimate import NoiseEstimate
from modelexport_exporter.verification.numerics.tolerance import Source, Tolerance, choose_tolerance
from modelexport_exporter.verification.original import Original
from modelexport_exporter.verification.output_scales import OutputScales
from modelexport_exporter.verification.perturbed_runs import PerturbedRuns
from modelexport_exporter.verification.recorded_outputs import compare_recorded
from modelexport_exporter.verification.samples.determinism import (
    distance,
    mark_not_deterministic,
)
from modelexport_exporter.verification.unusual_values import UnusualValues, excuse_kernel

Array = NDArray[Any]
Named = list[tuple[str, Array]]
RunFile = Callable[[Mapping[str, Array], str], Named]
"""Runs the artifact on arrays by input name; the text describes them in a failure's message."""

DTYPES_SECONDS = 0.05
"""The dtypes of mixed arithmetic are determined for each sample where that takes no longer."""


class Comparator:
    """Compares samples, with the noise of each output that earlier samples showed."""

    def __init__(
        self,
        spec: ModelExportSpec,
        original: Original,
        run_file: RunFile,
        ranked: Collection[str],
        *,
        simulated: bool = False,
        unlike_nan: Collection[str] | None = None,
        rounded: Collection[str] = (),
    ) -> None:
        """Compare outputs of a file, of which `ranked` depend on an order of values.

        `simulated`: whether the file's precision is not the model's. `unlike_nan`: outputs for
        which kernels of the runtime treat NaN otherwise than torch does; None if that is not known.
        `rounded`: outputs that depend on a float that became an integer.
        """
        self._spec = spec
        self._original = original
        self._run_file = run_file
        self._ranked = ranked
        known = None if simulated else unlike_nan
        self._unusual = UnusualValues(original, known, rounded)
        self._scales = OutputScales(spec, sliced=not simulated)
        self._computed_in: list[Arithmetic] = []
        """What leads to each output; empty before the first sample."""
        self._mixed = False
        """Whether these dtypes may be others for another sample."""
        self._noise: dict[str, float] = {}
        """The largest noise of each output so far, relative to its peak."""
        self._mismatched: set[str] = set()
        """Outputs with a difference that rounding did not explain: no further runs for them."""
        self._simulated = simulated
        self._runs = PerturbedRuns(original, simulated=simulated)
        self._flags = FlagsMet()
        self.losses = Losses()
        """The accuracy lost to a precision that is not the model's own."""

    @property
    def calibrated(self) -> bool:
        """Return whether the model runs in perturbed arithmetic."""
        return self._runs.available

    def coverage(self) -> list[str]:
        """Return what the comparisons left out."""
        return [*self._flags.coverage(), *self._unusual.coverage()]

    def compare_sample(
        self,
        sample: Sample,
        arrays: Mapping[str, Array],
        where: str,
        *,
        recorded: Mapping[str, Array],
        measure: bool = False,
    ) -> SampleComparison | None:
        """Compare both on a sample; None for infinities that the model does not expect.

        NaN that it does not expect is compared in outputs that kernels compute as torch does.

        `recorded`: golden outputs by name, which eager must return. `measure`: measure the model's
        noise even if both agree. Raises ExportFailure if one of them fails to run.
        """
        if not self._unusual.runs_on(sample, arrays):
            return None
        early = self._original.early_outputs(arrays)
        expected = self._original.run(arrays, where) if early is None else early
        unexpected = not self._unusual.expects(sample, arrays, expected)
        if unexpected and not self._unusual.compares_unexpected(sample, arrays):
            return None
        try:
            got = self._run_file(arrays, where)
        except ExportFailure as failure:
            if self._may_fail(sample, arrays, failure):
                return None
            raise
        known = self._settle_dtypes(arrays)
        quick = self._quickly(sample, expected, got)
        if early is not None and _differs(quick):
            # It ran on fewer threads, which round otherwise.
            expected = self._original.run(arrays, where)
            quick = self._quickly(sample, expected, got)
        reordered: list[Array] | None = None
        with ExitStack() as ranking:
            if self._may_be_ties(quick):
                ranking.enter_context(self._original.stable_rankings())
                reordered = self._reordered(arrays, where, expected)
                quick = self._quickly(sample, reordered or expected, got)
            outputs = self._compare(
                sample, arrays, reordered or expected, got, quick, known=known, measure=measure
            )
        names = [name for name, _ in got]
        self._flags.add(dict(zip(names, expected, strict=False)))
        if unexpected:
            excused = self._unusual.excused(outputs)
            self._mismatched -= excused
            outputs = [excuse_kernel(own) if own.output in excused else own for own in outputs]
        if sample.values in FAR_NUMBERS and _is_unsettled(outputs):
            return None  # far from where the model is well-conditioned: it shows nothing
        if recorded:
            declared = self._spec.verification.tolerance
            outputs = compare_recorded(outputs, expected, recorded, self._computed_in, declared)
        return SampleComparison(
            sample.dims, sample.seed, tuple(outputs), sample.values, reordered is not None
        )

    def _may_fail(
        self, sample: Sample, arrays: Mapping[str, Array], failure: ExportFailure
    ) -> bool:
        """Return whether the file may fail on a sample that eager ran on."""
        if self._unusual.may_fail(sample):
            return True
        if failure.reason is not Reason.RUNTIME_FAILED or sample.values not in FAR_NUMBERS:
            return False
        raises = self._runs.rounding_decides_errors(arrays)
        self._unusual.failed_far += raises
        return raises

    def _settle_dtypes(self, arrays: Mapping[str, Array]) -> bool:
        """Determine the arithmetic, unless it is known; return whether it was."""
        known = bool(self._computed_in) and not self._mixed
        if not known:
            self._determine_dtypes(arrays)
        return known

    def _quickly(self, sample: Sample, expected: list[Array], got: Named) -> list[OutputComparison]:
        """Compare without a further run of the model; nothing where outputs are missing."""
        if len(expected) != len(got):
            return []
        return self._compare_all(sample, expected, got, [NoiseEstimate(a) for a in expected])

    def _reordered(
        self, arrays: Mapping[str, Array], where: str, expected: list[Array]
    ) -> list[Array] | None:
        """Return what eager returns with equal values in the order of ONNX; None if the same."""
        stable = self._original.run(arrays, f"{where}, equal values in order")
        return stable if distance(expected, stable) else None

    def _compare(
        self,
        sample: Sample,
        arrays: Mapping[str, Array],
        expected: list[Array],
        got: Named,
        compared: list[OutputComparison],
        *,
        known: bool,
        measure: bool = False,
    ) -> list[OutputComparison]:
        """Return what further runs of the model leave of the differences in `compared`.

        `known`: whether the arithmetic was determined with other arrays.
        """
        if len(expected) != len(got):
            text = f"the file returns {len(got)} outputs, eager {len(expected)}"
            problem = Problem(ProblemKind.OUTPUT_COUNT, text)
            return [OutputComparison(got[0][0] if got else "", 0.0, 0.0, 0.0, problem)]
        estimates = [NoiseEstimate(array) for array in expected]
        if _differs(compared):
            again = self._original.run(arrays, "the same sample again")
            if difference := distance(expected, again):
                return mark_not_deterministic(compared, difference)
            if known:
                self._determine_dtypes(arrays)
                compared = self._compare_all(sample, expected, got, estimates)
        for run in range(MAX_RUNS):
            unmeasured = measure and not any(estimate.runs for estimate in estimates)
            wanted = unmeasured or self._is_explainable(compared, run)
            if not (wanted and self._runs.add(arrays, estimates, run)):
                break
            compared = self._compare_all(sample, expected, got, estimates)
        self._remember(sample, compared, expected, got, estimates)
        return compared

    def _remember(
        self,
        sample: Sample,
        compared: list[OutputComparison],
        expected: list[Array],
        got: Named,
        estimates: list[NoiseEstimate],
    ) -> None:
        """Remember what the comparisons of further samples need."""
        self._mismatched |= {output.output for output in compared if output.problem}
        if sample.values in ORDINARY:
            self._remember_noise(sample, compared, expected, estimates)
            if self._simulated:
                for want, (name, have) in zip(expected, got, strict=True):
                    self.losses.add(name, want, have)

    def _is_explainable(self, compared: list[OutputComparison], runs: int) -> bool:
        """Return whether one more run, after `runs`, may explain what differs."""
        return any(
            may_explain(output, runs)
            for output in compared
            if output.output not in self._mismatched
        )

    def _determine_dtypes(self, arrays: Mapping[str, Array]) -> None:
        """Determine the arithmetic of a sample: another side of a branch may use another one."""
        started = self._original.clock()
        self._computed_in = self._original.computed_in(arrays)
        found = {arithmetic.dtype for arithmetic in self._computed_in}
        dtypes = {*found, *self._original.facts.float_dtypes} - {EXACT}
        self._mixed = len(dtypes) > 1 and self._original.clock() - started < DTYPES_SECONDS

    def _compare_all(
        self, sample: Sample, expected: list[Array], got: Named, estimates: list[NoiseEstimate]
    ) -> list[OutputComparison]:
        if len(self._computed_in) < len(expected):
            raise FactsContradictError(f"arithmetic of {len(self._computed_in)} outputs")
        return [
            self._compare_one(sample, position, want, got[position], estimate)
            for position, (want, estimate) in enumerate(zip(expected, estimates, strict=True))
        ]

    def _compare_one(
        self,
        sample: Sample,
        position: int,
        want: Array,
        named: tuple[str, Array],
        estimate: NoiseEstimate,
    ) -> OutputComparison:
        name, have = named
        return compare_output(
            name,
            want,
            have,
            self._choose_tolerance(sample, name, want, self._computed_in[position]),
            ordinary_peak=self._scales.ordinary_peak(sample, name, want),
            estimate=estimate,
            slices=self._scales.slices(sample, name, want),
        )

    def _choose_tolerance(
        self, sample: Sample, name: str, want: Array, arithmetic: Arithmetic
    ) -> Tolerance:
        tolerance = choose_tolerance(
            self._spec.verification.tolerance,
            want.dtype.name,
            (arithmetic.dtype,),
            calibrated=self.calibrated,
            bounded=arithmetic.bounded,
            precision=self._spec.export.precision,
        )
        known = tolerance.multiple * self._noise.get(name, 0.0)
        if sample.values in FAR_NUMBERS and tolerance.source == "Calibrated":
            # Far numbers amplify rounding inside of fused layers: only gross errors count.
            known = max(known, tolerance.unsettled_from)
        return replace(tolerance, rtol=max(tolerance.rtol, known))

    def _remember_noise(
        self,
        sample: Sample,
        compared: list[OutputComparison],
        expected: list[Array],
        estimates: list[NoiseEstimate],
    ) -> None:
        for output, want, estimate in zip(compared, expected, estimates, strict=True):
            name = output.output
            if output.noise is None or output.inconclusive:
                continue
            self._noise[name] = max(output.noise, self._noise.get(name, 0.0))
            if not output.unsettled and not output.problem:
                self._scales.remember_noise(sample, name, want, estimate)

    @property
    def tolerance_source(self) -> Source:
        """Return the source of the limits of floating-point outputs."""
        declared = self._spec.verification.tolerance
        return choose_tolerance(declared, "float32", calibrated=self.calibrated).source

    def _may_be_ties(self, outputs: list[OutputComparison]) -> bool:
        """Return whether outputs differ, and only those that depend on a ranking."""
        differing = [output.output for output in outputs if output.problem]
        return bool(differing) and all(name in self._ranked for name in differing)


def _differs(outputs: list[OutputComparison]) -> bool:
    return any(output.problem for output in outputs)


def _is_unsettled(outputs: list[OutputComparison]) -> bool:
    """Return whether outputs agree only because some elements depend on rounding."""
    return not _differs(outputs) and any(output.unsettled for output in outputs)
