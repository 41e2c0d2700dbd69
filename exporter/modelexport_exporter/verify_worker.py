"""Verification: the artifact in onnxruntime against eager PyTorch on the original module.

Runs in a child process. Samples come from `samples`, what they may cost from `budget`, limits from
`tolerance`, the comparison from `compare`; outputs live as long as their sample is compared.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from dataclasses import replace

import torch

from modelexport_api.spec import Provider
from modelexport_api.status import Stage, Verdict, VerificationResult
from modelexport_exporter.call import lower
from modelexport_exporter.diagnosis.explain import explaining, find_pitfalls
from modelexport_exporter.isolation.machine import (
    busy_seconds,
    cpu_count,
    free_large_blocks_at_once,
    free_memory,
    peak_memory,
    release_memory,
)
from modelexport_exporter.load import load_module
from modelexport_exporter.plugins.older_torch import older_torch
from modelexport_exporter.plugins.plugins import Plugins, load_plugins
from modelexport_exporter.values import (
    ConvertedModel,
    ExportTask,
    OutputComparison,
    ReportProgress,
    SampleComparison,
    VerificationOutcome,
)
from modelexport_exporter.verification.budget import (
    HEADROOM,
    TIME_BUDGET_SECONDS,
    Admission,
    Cost,
    Room,
    admit,
)
from modelexport_exporter.verification.compare import Array, compare_output, is_float, peak_of
from modelexport_exporter.verification.reference import EagerReference
from modelexport_exporter.verification.samples import (
    DEGENERATE,
    Sample,
    Values,
    describe_sizes,
    draw,
    more_samples,
    plan_samples,
    shrink,
    volume,
)
from modelexport_exporter.verification.session import Session, choose_provider
from modelexport_exporter.verification.ties import break_ties, ranks
from modelexport_exporter.verification.tolerance import choose_tolerance
from modelexport_exporter.verification.verdict import NOT_DETERMINISTIC

MORE_WITHIN_SECONDS = 2.0
"""Further samples run only as long as all of them together took less."""

LARGE_MODEL_BYTES = 256 << 20
"""From here on weights are not prepacked on a CPU: that would copy all of them into memory.

onnxruntime then packs them anew for each multiplication; outputs differ by rounding only.
"""


@older_torch()
def verify_model(
    task: ExportTask, converted: ConvertedModel, progress: ReportProgress
) -> VerificationOutcome:
    """Compare the artifact with eager on every sample that the budget allows."""
    started = time.monotonic()
    progress(Stage.VERIFY, 0.0, "loading the original module")
    free_large_blocks_at_once()
    torch.set_num_threads(cpu_count())
    provider = choose_provider(task.spec.verification.provider, torch.cuda.is_available())
    plugins = load_plugins(task, _as_verification(progress))
    module = load_module(task, _as_verification(progress)).module
    lowered = lower(task.spec, module, task.code_dir)
    reference = EagerReference(
        module,
        lowered.call,
        device="cuda" if provider is Provider.CUDA else "cpu",
        code_dir=task.code_dir,
    )
    lowered_task = replace(task, spec=lowered.spec)
    with explaining(module, lowered, task.code_dir):
        run = _Verification(lowered_task, converted, plugins, provider, reference)
        run.over_all_samples(progress)
    outcome = run.outcome(time.monotonic() - started)
    if outcome.summary.verdict is Verdict.VERIFIED:
        return outcome
    return replace(outcome, pitfalls=find_pitfalls(module, lowered, task.code_dir))


def _as_verification(progress: ReportProgress) -> ReportProgress:
    """Return a report for the second load of the model, which is a part of this stage."""
    return lambda _stage, _fraction, message: progress(Stage.VERIFY, 0.0, message)


class _Verification:
    """The state of one verification: sessions, costs so far, results so far."""

    def __init__(
        self,
        task: ExportTask,
        converted: ConvertedModel,
        plugins: Plugins,
        provider: Provider,
        reference: EagerReference,
    ) -> None:
        self._spec = task.spec
        # On a GPU this process waits, and its CPU time says nothing.
        self._clock = time.monotonic if provider is Provider.CUDA else busy_seconds
        self._reference = reference
        self._left_out: list[str] = []
        self._costs: list[Cost] = []
        self._results: list[SampleComparison] = []
        self._ranks = ranks(converted.op_counts)
        self._ordinary_peaks: dict[str, float] = {}
        prepack = provider is Provider.CUDA or self._is_small(converted)
        self._weights = reference.weights(converted.weight_inputs)
        self._session = Session(
            converted.model_path, provider, prepack=prepack, setup=plugins.session_setup()
        )

    def over_all_samples(self, progress: ReportProgress) -> None:
        """Run the plan, within the budget."""
        plan = plan_samples(self._spec)
        for position, planned in enumerate(plan):
            for sample in self._admissible(planned):
                where = describe_sizes(sample.dims)
                progress(Stage.VERIFY, position / len(plan), f"comparing at {where}")
                self._run(sample)
                release_memory()
        for sample in more_samples(self._spec):
            spent = sum(cost.seconds for cost in self._costs)
            if spent > MORE_WITHIN_SECONDS or not self._admit(sample).fits:
                break
            self._run(sample)
        progress(Stage.VERIFY, 1.0, f"compared {len(self._results)} samples")

    def outcome(self, seconds: float) -> VerificationOutcome:
        """Return the verdict on what ran."""
        outputs = [output for sample in self._results for output in sample.outputs]
        wrong = any(output.problem for output in outputs)
        return VerificationOutcome(
            summary=VerificationResult(
                verdict=Verdict.MISMATCH if wrong else Verdict.VERIFIED,
                provider=self._session.provider.value,
                samples=len(self._results),
                max_abs_error=max((output.max_abs_error for output in outputs), default=0.0),
                max_rel_error=max((output.max_rel_error for output in outputs), default=0.0),
                tolerance_source=choose_tolerance(self._spec.verification.tolerance, "").source,
            ),
            samples=tuple(self._results),
            seconds=seconds,
            left_out=tuple(self._left_out),
        )

    def _is_small(self, converted: ConvertedModel) -> bool:
        size = sum(entry.size_bytes for entry in converted.files)
        if size < LARGE_MODEL_BYTES:
            return True
        self._left_out.append(
            f"onnxruntime's prepacking, which would copy {size / 1e9:.1f} GB of weights into "
            "memory: all samples ran without it (session.disable_prepacking)"
        )
        return False

    def _admissible(self, planned: Sample) -> Iterator[Sample]:
        """Yield the sample, or what of it fits: each one is run before the next is decided.

        A corner that seems too dear is first run at a quarter, which tells more about its cost.
        """
        verdict = self._admit(planned)
        ran: list[Sample] = []
        for part in (0.25, 1.0) if self._is_corner(planned) else ():
            if verdict.fits:
                break
            smaller = shrink(planned, self._spec.dims, min(part, verdict.factor * HEADROOM))
            if smaller is None or not self._admit(smaller).fits:
                break
            if ran and self._volume(smaller) <= self._volume(ran[-1]):
                break
            ran.append(smaller)
            yield smaller
            verdict = self._admit(planned)
        if verdict.fits:
            yield planned
        else:
            instead = f"{describe_sizes(ran[-1].dims)} ran instead" if ran else "left out"
            where = f"{describe_sizes(planned.dims)} ({planned.values} values)"
            self._left_out.append(f"{where}: {verdict.why}; {instead}")

    def _is_corner(self, sample: Sample) -> bool:
        return all(sample.dims[name] == dim.max for name, dim in self._spec.dims.items())

    def _admit(self, sample: Sample) -> Admission:
        spent = sum(cost.seconds for cost in self._costs)
        room = Room(TIME_BUDGET_SECONDS - spent, free_memory())
        return admit(self._costs, self._volume(sample), room)

    def _volume(self, sample: Sample) -> int:
        return volume(self._spec.inputs, sample.dims)

    def _run(self, sample: Sample) -> None:
        started = self._clock()
        where = f"{describe_sizes(sample.dims)} ({sample.values} values, seed {sample.seed})"
        arrays = draw(self._spec.inputs, sample)
        expected = self._reference.run(arrays, where)
        got = self._session.run({**arrays, **self._weights}, where)
        outputs, kind = self._compare(sample, expected, got), sample.values.value
        if any(output.problem for output in outputs):
            outputs = self._blame_randomness(outputs, expected, self._reference.run(arrays, where))
            apart = self._without_ties(sample, arrays, where)
            if apart is not None and not any(output.problem for output in apart):
                outputs, kind = apart, f"{kind}, ties broken"
        self._results.append(SampleComparison(sample.dims, sample.seed, tuple(outputs), kind))
        seconds = self._clock() - started
        self._costs.append(Cost(self._volume(sample), seconds, peak_memory()))

    def _compare(
        self, sample: Sample, expected: list[Array], got: list[Array]
    ) -> list[OutputComparison]:
        names = self._session.output_names
        if len(expected) != len(got):
            problem = f"the file returns {len(got)} outputs, eager {len(expected)}"
            return [OutputComparison(names[0] if names else "", 0.0, 0.0, 0.0, problem)]
        return [
            self._compare_one(sample, name, want, have)
            for name, want, have in zip(names, expected, got, strict=True)
        ]

    def _compare_one(self, sample: Sample, name: str, want: Array, have: Array) -> OutputComparison:
        declared = self._spec.verification.tolerance
        tolerance = choose_tolerance(declared, want.dtype.name, self._reference.float_dtypes)
        degenerate = sample.values in DEGENERATE
        ordinary = self._ordinary_peaks.get(name, 0.0) if degenerate else 0.0
        if sample.values is Values.NORMAL and is_float(want.dtype):
            self._ordinary_peaks[name] = max(peak_of(want), self._ordinary_peaks.get(name, 0.0))
        return compare_output(name, want, have, tolerance, ordinary)

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
        return self._compare(sample, expected, self._session.run({**apart, **self._weights}, where))

    def _blame_randomness(
        self, outputs: list[OutputComparison], first: list[Array], second: list[Array]
    ) -> list[OutputComparison]:
        """Say so where eager itself gives another answer to the same sample."""
        exactly = choose_tolerance(None, "")
        differences = [
            compare_output("", one, two, exactly) for one, two in zip(first, second, strict=False)
        ]
        random = [item for item in differences if item.problem]
        if not random:
            return outputs
        by = max(item.max_abs_error for item in random)
        note = f" ({NOT_DETERMINISTIC} in two runs, by {by:.3g})"
        return [
            replace(item, problem=item.problem + note) if item.problem else item for item in outputs
        ]
