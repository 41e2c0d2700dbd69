"""The run of an export, from a ModelExport to its result.

identify -> published before? -> fetch -> (export worker -> verify worker) by rungs -> publish
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from pathlib import Path

from modelexport_api.pod import PodResult
from modelexport_api.reasons import Reason
from modelexport_api.spec import Format, Layout
from modelexport_api.status import Failure, Stage
from modelexport_exporter.core.attempt import Attempt, most_informative
from modelexport_exporter.core.dims import DimSizes
from modelexport_exporter.core.errors import (
    ExportFailure,
    Incurable,
    RouteFallback,
    printable,
)
from modelexport_exporter.core.types import ConvertedModel, ExportTask
from modelexport_exporter.isolation import server
from modelexport_exporter.pipeline import ladder
from modelexport_exporter.pipeline.context import RunContext
from modelexport_exporter.pipeline.fetch_stage import FetchStage
from modelexport_exporter.pipeline.fetched import FetchedCheckpoint
from modelexport_exporter.pipeline.placed_checkpoint import place_checkpoint
from modelexport_exporter.pipeline.publisher import Publisher
from modelexport_exporter.publish.early_upload import EarlyUpload
from modelexport_exporter.publish.manifest import Decision
from modelexport_exporter.report.triton_config import check_servable
from modelexport_exporter.source.dependencies import Dependencies
from modelexport_exporter.source.imported_libraries import libraries_of
from modelexport_exporter.source.memory_preflight import check_memory
from modelexport_exporter.storage.workspace import workspace


class ExportRun:
    """One run of one resource that exports."""

    def __init__(self, context: RunContext) -> None:
        self.context = context
        self.publisher = Publisher(context)
        self._record = context.record

    def run(self) -> PodResult:
        """Return the result. Raises ExportFailure."""
        settings, spec = self.context.settings, self.context.spec
        with workspace(settings.work_dir) as directory, ExitStack() as held:
            held.enter_context(self.context.sandboxed(directory))

            def start_workers(code_dir: Path | None) -> None:
                server.start_server(settings.preload, libraries_of(spec, code_dir))

            fetched = self.fetch(directory, held, on_download=start_workers)
            return fetched if isinstance(fetched, PodResult) else self.climb(fetched)

    def fetch(
        self,
        directory: Path,
        held: ExitStack,
        dependencies: Dependencies | None = None,
        on_download: Callable[[Path | None], None] = lambda _code_dir: None,
    ) -> FetchedCheckpoint | PodResult:
        """Fetch the checkpoint, or return the result that was published before.

        The destination is open until `held` is closed. `dependencies`: those that are on this
        machine already. `on_download`: called with the folder of the user's code when it is known
        that there is work to do. Raises ExportFailure.
        """
        context, publisher = self.context, self.publisher
        publisher.load_signer()
        stage = FetchStage(
            context.spec,
            directory,
            self._record,
            context.report,
            dependencies,
            context.settings.kept,
        )
        stage.identify()
        previous = publisher.find()
        decision = publisher.decide(previous)
        if decision is Decision.REUSE and previous is not None:
            return publisher.reuse(previous)
        if context.settings.kept is None:
            identity = self._record.identity
            assert identity is not None
            check_memory(stage.source.store, identity, partial(context.log.log, "warning"))
        on_download(stage.code_dir)
        held.enter_context(publisher.open())
        checkpoint = stage.fetch()
        stage.report_result(checkpoint)
        if decision is Decision.COMPARE_CONTENT and previous is not None:
            self._record.source_files = checkpoint.digests()
            if publisher.decide(previous) is Decision.REUSE:
                return publisher.reuse(previous)
        return FetchedCheckpoint(stage, checkpoint, previous)

    def climb(self, fetched: FetchedCheckpoint) -> PodResult:
        """Try rung after rung until a file verifies, and publish that one."""
        form = fetched.format
        attempts = self._record.attempts
        while (step := ladder.next_step(self.context.spec, form, attempts)) is not None:
            possible = ladder.possible_attempts(self.context.spec, form, attempts)
            self.context.report.begin_attempt(len(attempts) + 1, possible, step.rung.value)
            task = fetched.task(f"output-{len(attempts)}")
            result = self._try_rung(replace(task, rung=step.rung, force=step.force), fetched)
            if result is not None:
                return result
            shutil.rmtree(task.output_dir, ignore_errors=True)
        raise self._summarize_failures(form)

    def _try_rung(self, task: ExportTask, fetched: FetchedCheckpoint) -> PodResult | None:
        """Return the result if this rung's file was verified and published, else None."""
        started = time.monotonic()
        try:
            converted = self.context.workers.export(task)
            return self.verify_and_publish(
                task, converted, fetched, on_verified=lambda: self.record_attempt(task, started)
            )
        except ExportFailure as failure:
            if self.context.stage is Stage.PUBLISH:
                raise
            self.record_attempt(task, started, failure)
            self.publisher.drop_staged()
            return None

    def verify_and_publish(
        self,
        task: ExportTask,
        converted: ConvertedModel,
        fetched: FetchedCheckpoint,
        on_verified: Callable[[], None],
        upload: EarlyUpload | None = None,
    ) -> PodResult:
        """Verify a file, call `on_verified`, and publish the file. Raises ExportFailure."""
        if self._record.layout is Layout.TRITON:
            check_servable([*converted.inputs, *converted.outputs])
        origins = place_checkpoint(converted, task.output_dir, fetched)
        upload = upload or self.publisher.begin_upload(converted, origins)
        try:
            self.context.workers.verify(task, converted)
            self._record.source_files = fetched.checkpoint.digests()
            fetched.fetch_stage.check_unchanged()
            on_verified()
            return self.publisher.publish(converted, upload, fetched.previous)
        except BaseException:
            upload.stop()
            raise

    def record_attempt(
        self, task: ExportTask, started: float, failure: ExportFailure | None = None
    ) -> None:
        """Record how an attempt ended."""
        outcome, seconds = self._record.outcome, round(time.monotonic() - started, 3)
        differs = failure is not None and failure.reason is Reason.VERIFICATION_FAILED
        made = self._record.converted if self.context.stage is Stage.VERIFY else None
        self._record.end_attempt(
            Attempt(
                task.rung,
                seconds,
                failure.describe(self.context.stage) if failure else None,
                incurable=isinstance(failure, Incurable),
                deferred=isinstance(failure, RouteFallback),
                pitfalls=failure.pitfalls if failure else (),
                holds_for_some_sizes=made is not None and bool(made.guards),
                differs_at_any_size=outcome is not None
                and differs
                and outcome.differs_at(DimSizes.of(self.context.spec).captured),
                blame=outcome.blame if outcome and differs else None,
            )
        )
        if failure is not None:
            message = f"{task.rung.value}: {failure.reason}: {printable(failure.message)}"
            # Fields: a terminal shows the message in the summary, if at all.
            fields = {"failed": failure.reason, "stage": self.context.stage, "seconds": seconds}
            self.context.log.log("warning", message, **fields)

    def _summarize_failures(self, checkpoint: Format | None) -> ExportFailure:
        """Return the most informative failure, with the reasons of the other rungs."""
        spec, attempts = self.context.spec, self._record.attempts
        failure = most_informative(spec, attempts).failure
        assert failure is not None
        tried = ladder.summary(attempts)
        message = f"{failure.message} (tried {tried})" if tried else failure.message
        advice = (failure.hint, ladder.other_routes(spec, checkpoint, attempts))
        return ExportFailure(
            failure.reason,
            message,
            " ".join(filter(None, advice)),
            stage=failure.stage,
            ops=tuple(failure.ops),
        )

    def publish_failure(self, failure: Failure) -> str:
        """Publish the reports of a failure; return the URI of report.json."""
        return self.publisher.publish_failure(failure)
