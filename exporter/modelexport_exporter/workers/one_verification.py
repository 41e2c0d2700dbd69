"""One verification: the file and eager PyTorch on all samples that the budget allows.

`SampleSource` draws samples, `SampleScheduler` decides which of them run, `Comparator` compares
one with the runs of `WatchedFile`, `Original.seek` seeks what they did not reach, and `verdict`
sums up. Outputs are freed after their sample.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import Any

from numpy.typing import NDArray

from modelexport_api.spec import Layout, Precision
from modelexport_api.status import Stage, Verdict, VerificationResult
from modelexport_exporter.core.comparison import SampleComparison
from modelexport_exporter.core.dims import describe_sizes
from modelexport_exporter.core.machine import release_memory
from modelexport_exporter.core.outcome import NotCompared, Unreached, VerificationOutcome
from modelexport_exporter.core.providers import GPU, fallbacks, on_cpu
from modelexport_exporter.core.sample import ORDINARY, Sample, Values
from modelexport_exporter.core.types import ConvertedModel, ExportTask, ReportProgress
from modelexport_exporter.report.triton_config import batch_dim, with_session_shapes
from modelexport_exporter.verification.batch_independence import is_batch_independent
from modelexport_exporter.verification.checked_facts import check_found, sentences
from modelexport_exporter.verification.comparator import Comparator
from modelexport_exporter.verification.dependent_outputs import (
    RANKING,
    UNLIKE_NAN,
    dependent_outputs,
    rounded_outputs,
)
from modelexport_exporter.verification.original import Original
from modelexport_exporter.verification.runtime.opened import OpenFile
from modelexport_exporter.verification.samples import time_shares
from modelexport_exporter.verification.samples.budget import TIME_BUDGET_SECONDS
from modelexport_exporter.verification.samples.every_size import describe_coverage
from modelexport_exporter.verification.samples.met_arrays import MetArrays
from modelexport_exporter.verification.samples.row_lookups import RowLookups
from modelexport_exporter.verification.samples.sample_scheduler import SampleScheduler
from modelexport_exporter.verification.samples.sample_source import SampleSource
from modelexport_exporter.verification.samples.tried_inputs import TriedInputs
from modelexport_exporter.verification.seeking.compared_outputs import outputs_without_numbers
from modelexport_exporter.verification.seeking.found import Found
from modelexport_exporter.verification.seeking.size_decisions import SizeDecisions
from modelexport_exporter.verification.smallest_failure import SmallestFailure
from modelexport_exporter.verification.verdict import describe_reordered, verdict_on
from modelexport_exporter.workers.watched_file import WatchedFile

Array = NDArray[Any]

DECISIONS_SECONDS = 0.5
"""Time to seek sizes at which the file decides otherwise."""

PROVEN_GRAPH = (
    "samples at all sizes: the same graph was verified on them with the weights of another "
    "checkpoint of this batch"
)


class Verification:
    """The state of one verification."""

    def __init__(
        self,
        task: ExportTask,
        converted: ConvertedModel,
        original: Original,
        samples: SampleSource,
        open_file: OpenFile,
    ) -> None:
        self._spec, self._original = task.spec, original
        self._clock = original.clock
        self._samples = samples
        self._scheduler = SampleScheduler(task.spec, TIME_BUDGET_SECONDS, peak=original.peak_memory)
        if task.proven_graph:
            self._scheduler.left_out.append(PROVEN_GRAPH)
        self._results: list[SampleComparison] = []
        self._lookups = RowLookups(task.spec, samples.lookups)
        self._met = MetArrays()
        self._tried = TriedInputs()
        self._suspects_left: list[NotCompared] = []
        self._found = 0
        """Number of samples that a search found."""
        self.smallest_failure = SmallestFailure()
        self._measured = task.proven_graph
        self._all_nan: list[str] = []
        self._file = WatchedFile(task, converted, original, open_file)
        self._scheduler.left_out.extend(filter(None, (self._file.unpacked,)))
        self.shapes = self._file.shapes

        def dependent(kinds: frozenset[str]) -> frozenset[str]:
            return dependent_outputs(converted.model_path, kinds, converted.op_counts)

        on_gpu = original.facts.provider in GPU
        # What kernels of other domains do with NaN is their own affair.
        custom = {name for name in converted.op_counts if "::" in name}
        self._comparator = Comparator(
            task.spec,
            original,
            self._file.run,
            dependent(RANKING),
            simulated=task.spec.export.precision is not Precision.NATIVE,
            unlike_nan=None if on_gpu else dependent(UNLIKE_NAN | custom),
            rounded=rounded_outputs(converted.model_path, converted.op_counts),
        )
        original.begin(converted, samples)

    def over_all_samples(self, progress: ReportProgress) -> None:
        """Run the plan, within the budget. Raises NotDeterministic."""
        self._original.check_repeatable()
        plan = self._samples.plan()
        for position, planned in enumerate(plan):
            for sample in self._scheduler.admissible(planned):
                where = describe_sizes(sample.dims)
                progress(Stage.VERIFY, position / len(plan), f"comparing at {where}")
                self._run(sample)
                release_memory()
        for planned in self._samples.guarded():
            for sample in self._scheduler.admissible(planned):
                self._run(sample)
        self._run_while(self._samples.more(), time_shares.MORE_WITHIN_SECONDS)
        if self._is_fast:
            until = self._scheduler.spent + time_shares.EACH_INTEGER_AT_MOST_SECONDS
            most = time_shares.each_integer_samples(self._scheduler.seconds)
            self._run_while(islice(self._samples.each_integer(), most), until)
        spent = self._scheduler.spent
        named = self._samples.named(large=spent <= time_shares.MORE_WITHIN_SECONDS)
        self._run_while(named, time_shares.named(spent))
        rows = self._lookups.samples(lambda sample: self._scheduler.admit(sample).fits)
        self._run_while(rows, time_shares.lookups(self._scheduler.spent))
        self._seek()
        self._run_likely_sizes(time_shares.likely_sizes(self._scheduler.spent))
        self._run_every_size()
        progress(Stage.VERIFY, 1.0, f"compared {len(self._results)} samples")

    def _seek(self) -> None:
        """Compare what reaches more of the model and of the file, unless they differ."""
        self._all_nan = outputs_without_numbers(self._results)
        self._original.seek(self._results, self._run_found, self._file.sides)
        if self._file.decisions is not None and not self._differ:
            self._seek_decisions(self._file.decisions)

    def _seek_decisions(self, decisions: SizeDecisions) -> None:
        """Compare sizes at which the file decides otherwise than at all sizes before."""
        if self._results:
            decisions.add([result.dims for result in self._results])
        many = self._samples.many_sizes()
        for sample in decisions.among(many, DECISIONS_SECONDS, self._clock):
            if self._differ:
                return
            arrays = self._samples.arrays(sample)
            if self._original.accepts(arrays):
                self._run_found(Found(dict(sample.dims), arrays))

    @property
    def _differ(self) -> bool:
        return any(result.differs for result in self._results)

    def _run_while(self, samples: Iterable[Sample], seconds: float) -> None:
        """Run samples until all samples together took so long."""
        for sample in samples:
            if self._scheduler.spent > seconds or not self._scheduler.admit(sample).fits:
                break
            self._run(sample)

    def _run_likely_sizes(self, seconds: float) -> None:
        """Run the likeliest sizes until all samples took so long; large ones may not fit."""
        for sample in self._samples.likely_sizes([ran.dims for ran in self._results]):
            left = seconds - self._scheduler.spent
            if left < 0:
                break
            if self._scheduler.fits_within(sample, left) and self._scheduler.admit(sample).fits:
                self._run(sample)

    def _run_every_size(self) -> None:
        """Run as many sizes as the time allows; again those that ran, if the model is fast."""
        sizes = self._samples.every_size()
        if not self._is_fast:
            sizes = (sample for sample in sizes if not self._ran(sample))
        until = time_shares.every_size(self._scheduler.spent, fast=self._is_fast)
        self._run_while(sizes, until)

    def _ran(self, sample: Sample) -> bool:
        return any(entry.dims == sample.dims for entry in self._results)

    @property
    def _is_fast(self) -> bool:
        return time_shares.is_fast(self._scheduler.seconds)

    def settle_shapes(self) -> bool:
        """Correct the shapes that a verified file declares; return whether to verify it again."""
        if not self._agrees:
            return False
        if self.shapes.redeclare():
            return True
        suspects = self.shapes.suspects(self._original, self._samples.named_sizes)
        for seed, sizes in enumerate(suspects):
            self._run_suspect(Sample(sizes, Values.NORMAL, seed))
        return bool(suspects) and self._agrees and self.shapes.redeclare()

    def _run_suspect(self, sample: Sample) -> None:
        """Run a size at which shapes differ, whatever time is left; memory may be too short.

        The runs decide: shapes that follow from the file's nodes are no verdict.
        """
        if self._scheduler.fits_within(sample, math.inf):
            self._run(sample)
        else:
            where = f"a shape that seems to differ at {describe_sizes(sample.dims)}"
            self._suspects_left.append(NotCompared(Unreached.SIZE, where))

    def check_shapes(self) -> None:
        """Raise ExportFailure unless the declared shapes are those of all runs."""
        if self._agrees:
            self.shapes.check()

    @property
    def _agrees(self) -> bool:
        return verdict_on(self._results) is Verdict.VERIFIED

    def outcome(self, seconds: float) -> VerificationOutcome:
        """Return the verdict on all samples that ran; `seconds`: of the whole verification."""
        outputs = [output for sample in self._results for output in sample.outputs]
        conclusive = [output for output in outputs if not output.inconclusive]
        fallen_back = fallbacks(self._file.session.assignment, self._file.session.provider)
        noise = [output.noise for output in conclusive if output.noise is not None]
        left = (*self._guards_left(), *self._suspects_left)
        not_compared = (*self._not_reached(), *left)
        excused = self._spec.verification.allow_incomplete
        return VerificationOutcome(
            summary=VerificationResult(
                verdict=verdict_on(self._results, () if excused else not_compared),
                provider=self._file.session.provider.value,
                samples=len(self._results),
                max_abs_error=max((output.max_abs_error for output in conclusive), default=0.0),
                max_rel_error=max((output.max_rel_error for output in conclusive), default=0.0),
                tolerance_source=self._comparator.tolerance_source,
                max_noise=max(noise, default=None),
                fallback_nodes=on_cpu(fallen_back),
                coverage=self._coverage(),
                not_compared=[str(entry) for entry in not_compared],
            ),
            samples=tuple(self._results),
            seconds=seconds,
            left_out=tuple(self._scheduler.left_out),
            losses=self._comparator.losses.all(),
            fallbacks=fallen_back,
            guards=self.shapes.converted.guards,
            not_compared=not_compared,
            output_shapes=dict(self.shapes.stated),
            converted=self.shapes.converted,
            tried=self._tried.all(),
            rows_independent=self._rows_are_independent(),
        )

    def _not_reached(self) -> Iterator[NotCompared]:
        """Yield what no sample reached of the model, of the outputs and of the file."""
        yield from self._original.not_compared()
        yield from (NotCompared(Unreached.NUMBERS, f"output {name}") for name in self._all_nan)
        if (sides := self._file.sides) is not None:
            for side in sides.missing:
                yield NotCompared(Unreached.SIDE_OF_FILE, sides.describe(side))

    def _guards_left(self) -> list[NotCompared]:
        """Return the conditions of the graph on sizes that no sample failed to fulfil."""
        left = self._samples.guards_without(sample.dims for sample in self._results)
        return [NotCompared(Unreached.SIZE, f"the condition {guard}") for guard in left]

    def _coverage(self) -> list[str]:
        """Return what the samples covered: sizes, and ranges that were searched for."""
        ran = [sample.dims for sample in self._results]
        sizes = describe_coverage(self._spec, ran, self.shapes.coverage())
        ties = describe_reordered(self._results)
        rows = self._lookups.coverage()
        values = [*ties, *rows, *self._comparator.coverage()]
        return [*sizes, *sentences(self._original.coverage()), *values]

    def _rows_are_independent(self) -> bool | None:
        """Return whether a server may batch requests; None unless the layout is Triton's."""
        if not self._agrees or self._spec.destination.layout is not Layout.TRITON:
            return None
        outputs = with_session_shapes(self.shapes.converted.outputs, self.shapes.stated)
        batch = batch_dim(self._spec, [*self.shapes.converted.inputs, *outputs])
        sample = self._samples.smallest_batch(batch) if batch else None
        if sample is None:
            return None
        arrays = self._samples.arrays(sample)
        fed = {name: arrays[name] for name in self._file.session.input_names if name in arrays}
        return is_batch_independent(fed, lambda rows: self._file.run(rows, "rows of a batch"))

    def _run_found(self, found: Found) -> None:
        """Compare inputs that a search found, if they fit into the budget."""
        check_found(self._spec, found)
        values = Values.SAMPLER if self._samples.sampler is not None else Values.SOUGHT
        sample = Sample(found.dims, values, self._found)
        self._found += 1
        if self._scheduler.admit(sample).fits:
            self._compare(sample, found.arrays)

    def _run(self, sample: Sample) -> None:
        """Run a sample, unless its arrays ran before: all zeros may be the lowest values, too."""
        arrays = self._samples.arrays(sample)
        if sample.values is Values.GOLDEN or self._met.is_new(arrays):
            self._compare(sample, arrays)

    def _compare(self, sample: Sample, arrays: Mapping[str, Array]) -> None:
        started = self._clock()
        where = f"{describe_sizes(sample.dims)} ({sample.label} values, seed {sample.seed})"
        compared = self._comparator.compare_sample(
            sample,
            arrays,
            where,
            recorded=self._samples.outputs(sample),
            measure=self._measures_noise(sample),
        )
        if compared is not None:
            self._results.append(compared)
            self._tried.add(arrays, sample.label)
            self.smallest_failure.add(self._scheduler.volume(sample), arrays, compared)
        self._scheduler.note(sample, self._clock() - started)

    def _measures_noise(self, sample: Sample) -> bool:
        """Return whether to measure the noise: once, on an ordinary sample, if it is fast."""
        slowest = self._scheduler.slowest
        if self._measured or sample.values not in ORDINARY or slowest is None:
            return False
        self._measured = time_shares.measures_noise(slowest)
        return self._measured
