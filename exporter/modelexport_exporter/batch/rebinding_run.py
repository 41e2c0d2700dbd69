"""The run of one checkpoint of a batch: by the graph of an earlier one, or a fresh export.

fetch -> rebind (both while earlier checkpoints are verified) -> verify -> publish
any failure: the whole ladder, in fresh processes
"""

from __future__ import annotations

import shutil
import time
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from modelexport_api.pod import PodResult
from modelexport_api.reasons import Reason
from modelexport_api.status import Failure, Stage
from modelexport_exporter.batch.resident_workers import Graph, ResidentWorkerPool
from modelexport_exporter.core.errors import ExportFailure, printable
from modelexport_exporter.core.types import ConvertedModel, ExportTask
from modelexport_exporter.pipeline.context import RunContext
from modelexport_exporter.pipeline.export_run import ExportRun
from modelexport_exporter.pipeline.fetched import FetchedCheckpoint
from modelexport_exporter.publish.early_upload import EarlyUpload
from modelexport_exporter.source.dependencies import Dependencies

_ENDS_THE_RUN = frozenset({Reason.INTERRUPTED, Reason.DEADLINE_EXCEEDED})


@dataclass(frozen=True)
class _Rebound:
    """What a graph made of this checkpoint."""

    graph: Graph
    task: ExportTask
    made: ConvertedModel | ExportFailure


class RebindingRun:
    """One run of one checkpoint of a batch."""

    def __init__(self, context: RunContext, pool: ResidentWorkerPool) -> None:
        self.context = context
        self._export = ExportRun(context)
        self._pool = pool
        self._fetched: FetchedCheckpoint | PodResult | None = None
        self._rebound: _Rebound | None = None
        self._upload: EarlyUpload | None = None

    def fetch(self, directory: Path, held: ExitStack, dependencies: Dependencies) -> None:
        """Fetch the checkpoint. Raises ExportFailure."""
        self._fetched = self._export.fetch(directory, held, dependencies)

    def abandon(self) -> None:
        """Make work for it in other threads end at its next step."""
        self.context.report.abandon()

    def end_upload(self) -> None:
        """End a background upload."""
        if self._upload is not None:
            self._upload.stop()

    def rebind(self) -> None:
        """Make a file by the graph of an earlier checkpoint, if there is one. Never raises."""
        if not isinstance(self._fetched, FetchedCheckpoint):
            return
        if self._rebound is not None:
            if self._pool.is_usable(self._rebound.graph):
                return
            self._discard(self._rebound)
        with self._pool.graph() as graph:
            if graph is None:
                return
            task = self._fetched.task("rebound")
            try:
                converted = self.context.workers.rebind(task)
            except ExportFailure as failure:
                self._rebound = _Rebound(graph, task, failure)
                return
            self._rebound = _Rebound(graph, graph.task_of(task, converted), converted)
        self._upload = self._export.publisher.begin_upload(converted)

    def _discard(self, rebound: _Rebound) -> None:
        """Drop what was made by a graph whose own first file turned out to be wrong."""
        self.end_upload()
        self._export.publisher.drop_staged()
        shutil.rmtree(rebound.task.output_dir, ignore_errors=True)
        self._rebound = self._upload = None

    def run(self) -> PodResult:
        """Return the result for the fetched checkpoint. Raises ExportFailure."""
        fetched = self._fetched
        assert fetched is not None
        if isinstance(fetched, PodResult):
            return fetched
        result = self._publish_rebound(fetched)
        if result is not None:
            self._pool.record_hit()
            return result
        try:
            result = self._export.climb(fetched)
        except BaseException:
            self._pool.reject()
            raise
        self._pool.confirm()
        return result

    def _publish_rebound(self, fetched: FetchedCheckpoint) -> PodResult | None:
        """Return the result if the file made by the graph was verified and published."""
        if self._rebound is None:
            return None
        assert self._pool.is_confirmed(self._rebound.graph)
        task, converted = self._rebound.task, self._rebound.made
        started = time.monotonic()
        try:
            if isinstance(converted, ExportFailure):
                raise converted
            record_attempt = partial(self._export.record_attempt, task, started)
            return self._export.verify_and_publish(
                task, converted, fetched, record_attempt, self._upload
            )
        except ExportFailure as failure:
            if self.context.stage is Stage.PUBLISH or failure.reason in _ENDS_THE_RUN:
                raise
            self.end_upload()
            self._pool.record_miss()
            message = f"{failure.reason}: {printable(failure.message)}"
            self.context.log.log("info", f"the kept graph failed, exporting again: {message}")
            self._export.publisher.drop_staged()
            return None

    def publish_failure(self, failure: Failure) -> str:
        """Publish the reports of a failure; return the URI of report.json."""
        return self._export.publish_failure(failure)
