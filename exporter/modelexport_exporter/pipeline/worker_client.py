"""The supervisor's calls to workers: each returns a typed result or raises ExportFailure."""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Protocol, TypeVar

from modelexport_api.reasons import Reason
from modelexport_api.spec import Precision
from modelexport_api.status import LatencyFigures, Stage, Verdict
from modelexport_exporter.core import entry_points
from modelexport_exporter.core.accuracy_loss import describe_refusal
from modelexport_exporter.core.benchmark_plan import (
    Benchmark,
    benchmark_seconds,
    compile_problem,
)
from modelexport_exporter.core.errors import ExportFailure, Incurable, NotDeterministic
from modelexport_exporter.core.log import Log
from modelexport_exporter.core.memory import MemoryWatch
from modelexport_exporter.core.outcome import VerificationOutcome
from modelexport_exporter.core.progress import ProgressReporter
from modelexport_exporter.core.types import (
    ConvertedModel,
    ExportTask,
    ReportProgress,
    StageResult,
    WrittenFile,
)
from modelexport_exporter.diagnosis.enrich import enrich
from modelexport_exporter.isolation import worker
from modelexport_exporter.isolation.output_lines import OnOutput
from modelexport_exporter.pipeline import ladder
from modelexport_exporter.pipeline.checked_answers import (
    check_export,
    check_reading,
    check_verification,
)
from modelexport_exporter.report.record import Record

T = TypeVar("T")

OVERTIME_SECONDS = 10.0
"""For a process that measures to start, and to end a call that takes longer than expected."""


class WorkerPool(Protocol):
    """Runs an entry's function in another process."""

    def __call__(
        self,
        entry: str,
        arguments: tuple[object, ...],
        expected: type[T],
        *,
        on_progress: ReportProgress,
        on_output: OnOutput,
        memory: MemoryWatch,
        deadline: float | None = None,
    ) -> T:
        """Return what `module:function(*arguments, report)` returned. Raises ExportFailure."""


@dataclass(frozen=True)
class Workers:
    """Runs the workers, and records their results."""

    export_entry: str
    verify_entry: str
    record: Record
    report: ProgressReporter
    memory: MemoryWatch
    log: Log
    deadline: float
    """When the whole export has to end, in `time.monotonic()` seconds."""
    started: float = field(default_factory=time.monotonic)
    pool: WorkerPool = worker.run
    """Without another one, each call gets a fresh process."""

    def export(self, task: ExportTask) -> ConvertedModel:
        """Return the file that the task's rung produces."""
        self.record.begin_attempt()
        begun, loading = time.monotonic(), 0.0

        def on_progress(stage: Stage, fraction: float, message: str) -> None:
            nonlocal loading
            if stage is Stage.LOAD and isinstance(message, StageResult):
                # With the start of the process, in which torch is imported.
                loading = round(time.monotonic() - begun, 3)
                message = StageResult(message, loading)
            self.report(stage, fraction, message)

        self.report(Stage.LOAD, 0.0, "importing torch")
        deadline = ladder.attempt_deadline(time.monotonic(), self.deadline)
        arguments = (ConvertedModel, deadline, self.export_entry, task)
        converted = self._work(*arguments, on_progress=on_progress)
        check_export(converted, task.output_dir)
        self._record_export(converted)
        if loading:
            self.record.seconds[Stage.LOAD] = loading
        return converted

    def rebind(self, task: ExportTask) -> ConvertedModel:
        """Return the file that the graph of an earlier checkpoint produces."""
        self.report(Stage.LOAD, 0.0, "binding the weights to the graph of an earlier checkpoint")
        converted = self._work(ConvertedModel, self.deadline, entry_points.REBIND, task)
        check_export(converted, task.output_dir)
        self._record_export(converted)
        return converted

    def external_names(self, path: Path) -> tuple[str, ...]:
        """Return the names of the external data files of an ONNX file."""
        names, entry = tuple[str, ...], entry_points.READ_EXTERNAL_NAMES
        return self._work(names, self.deadline, entry, path)

    def read(self, task: ExportTask, path: Path, files: tuple[WrittenFile, ...]) -> ConvertedModel:
        """Return what an existing ONNX file contains."""
        arguments = (self.deadline, entry_points.READ_ARTIFACT, task, path, files)
        converted = self._work(ConvertedModel, *arguments)
        check_reading(converted, path, files)
        self._record_export(converted)
        return converted

    def _record_export(self, converted: ConvertedModel) -> None:
        self.record.add_export(converted)
        for finding in converted.findings:
            message = f"{finding.subject}: requested {finding.requested}, got {finding.obtained}"
            self.log.log("warning", message)

    def verify(self, task: ExportTask, converted: ConvertedModel) -> None:
        """Verify the artifact against the model. Raises ExportFailure if they differ."""
        begun = time.monotonic()
        self.report(Stage.VERIFY, 0.0, "starting the verification worker")
        arguments = (self.deadline, self.verify_entry, task, converted)
        outcome = self._work(VerificationOutcome, *arguments)
        check_verification(outcome, converted)
        self.record.add_verification(outcome)
        self.record.seconds[Stage.VERIFY] = seconds = round(time.monotonic() - begun, 3)
        if outcome.summary.verdict is not Verdict.VERIFIED:
            from modelexport_exporter.verification.verdict import (
                describe_ill_conditioned,
                describe_incomplete,
                describe_mismatch,
            )

            if outcome.summary.verdict is Verdict.ILL_CONDITIONED:
                message, hint = describe_ill_conditioned(outcome)
                failure = ExportFailure(Reason.ILL_CONDITIONED, message, hint, stage=Stage.VERIFY)
                raise enrich(failure, outcome.pitfalls)
            if outcome.summary.verdict is Verdict.INCOMPLETE:
                reason, message, hint = describe_incomplete(outcome)
                raise ExportFailure(reason, message, hint, stage=Stage.VERIFY)
            message, hint = describe_mismatch(outcome)
            precision = task.spec.export.precision
            if precision is not Precision.NATIVE:
                loss, hint = describe_refusal(precision, outcome.losses, outcome.summary.max_noise)
                message += loss
            kind = _kind_of_mismatch(outcome, precision)
            failure = kind(Reason.VERIFICATION_FAILED, message, hint, stage=Stage.VERIFY)
            raise enrich(failure, outcome.pitfalls)
        samples = outcome.summary.samples
        agree = "1 sample agrees" if samples == 1 else f"{samples:,} samples agree"
        self.report.finish(Stage.VERIFY, agree, seconds)
        if task.proven_graph:
            why = "latency: measured once for checkpoints of one graph"
            self.record.benchmark = Benchmark(None, (why,))
        elif task.spec.verification.benchmark:
            begun = time.monotonic()
            found = self._benchmark(task, converted, outcome.summary.provider, begun)
            self.record.benchmark = replace(found, seconds=time.monotonic() - begun)

    def _benchmark(
        self, task: ExportTask, converted: ConvertedModel, provider: str, begun: float
    ) -> Benchmark:
        """Return the latency; a failure is reported and does not fail the export."""
        asked = task.spec.verification.benchmark_seconds
        seconds = benchmark_seconds(begun - self.started, asked)
        try:
            # It stops at the limit itself, unless a call or loading the model exceeds the limit.
            deadline, entry = self._within(seconds + OVERTIME_SECONDS), entry_points.BENCHMARK
            found = self._work(Benchmark, deadline, entry, task, converted, seconds)
        except ExportFailure as failure:
            return Benchmark(None, (_not_measured("latency", failure),))
        if found.latency is None:
            return found
        left = begun + seconds - time.monotonic()
        why = compile_problem(left, provider)
        if why:
            return Benchmark(found.latency, (*found.left_out, why))
        try:
            deadline, entry = self._within(left), entry_points.BENCHMARK_COMPILED
            arguments = (task, converted, found.latency.dims, left)
            compiled = self._work(LatencyFigures, deadline, entry, *arguments)
        except ExportFailure as failure:
            return Benchmark(
                found.latency, (*found.left_out, _not_measured("torch.compile", failure))
            )
        latency = found.latency.model_copy(update={"compiled": compiled})
        return Benchmark(latency, found.left_out)

    def _within(self, seconds: float) -> float:
        return min(self.deadline, time.monotonic() + seconds)

    def _work(
        self,
        expected: type[T],
        deadline: float,
        entry: str,
        *arguments: object,
        on_progress: ReportProgress | None = None,
    ) -> T:
        try:
            return self.pool(
                entry,
                arguments,
                expected,
                on_progress=on_progress or self.report,
                on_output=lambda line: self.log.log("info", line, worker=True),
                memory=self.memory,
                deadline=deadline,
            )
        finally:
            self.record.peak_memory_bytes = self.memory.peak_bytes


def _kind_of_mismatch(outcome: VerificationOutcome, precision: Precision) -> type[ExportFailure]:
    """Return whether another rung may avoid a mismatch."""
    if outcome.not_deterministic:
        return NotDeterministic
    blame = outcome.blame
    by_plugin = blame is not None and blame.is_of_a_plugin and precision is Precision.NATIVE
    return Incurable if by_plugin else ExportFailure


def _not_measured(what: str, failure: ExportFailure) -> str:
    """Return why a measurement is missing. Raises if the run was interrupted."""
    if failure.reason is Reason.INTERRUPTED:
        raise failure
    if failure.reason is Reason.DEADLINE_EXCEEDED:
        return f"{what}: it exceeded its time limit"
    return f"{what}: {failure.reason.value}: {failure.message[:300]}"
