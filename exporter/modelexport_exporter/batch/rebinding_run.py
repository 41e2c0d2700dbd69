"""The story of one checkpoint of a batch: by the graph of an earlier one, or afresh.

bring (ahead of its turn) -> rebind (ahead of its turn) -> verify -> publish
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
from modelexport_api.resource import ModelExport
from modelexport_api.status import Stage
from modelexport_exporter.batch.resident_workers import Graph, ResidentWorkerPool
from modelexport_exporter.core.errors import ExportFailure, printable
from modelexport_exporter.core.log import Log
from modelexport_exporter.core.types import ConvertedModel, ExportTask
from modelexport_exporter.pipeline.export_run import Pipeline
from modelexport_exporter.pipeline.fetched import FetchedCheckpoint
from modelexport_exporter.pipeline.run_base import Settings
from modelexport_exporter.publish.early_upload import EarlyUpload
from modelexport_exporter.source.dependencies import Dependencies

_ENDS_THE_RUN = frozenset({Reason.INTERRUPTED, Reason.DEADLINE_EXCEEDED})


@dataclass(frozen=True)
class _Rebound:
    """What a graph made of this checkpoint."""

    graph: Graph
    task: ExportTask
    made: ConvertedModel | ExportFailure


class ItemPipeline(Pipeline):
    """One run of one checkpoint of a batch."""

    def __init__(
        self, resource: ModelExport, settings: Settings, log: Log, pool: ResidentWorkerPool
    ) -> None:
        super().__init__(resource, settings, log, pool)
        self._staying = pool
        self._brought: FetchedCheckpoint | PodResult | None = None
        self._rebound: _Rebound | None = None
        self._upload: EarlyUpload | None = None

    def prepare(self, directory: Path, held: ExitStack, dependencies: Dependencies) -> None:
        """Bring the checkpoint. Raises ExportFailure."""
        self._brought = self.bring(directory, held, dependencies)

    def abandon(self) -> None:
        """Let what goes on for it, in another thread, end at its next step."""
        self._report.abandon()

    def end_upload(self) -> None:
        """End what is on its way to the store."""
        if self._upload is not None:
            self._upload.stop()

    def _warm_up(self) -> None:
        """Leave it to the engine, whose thread is the main one."""

    def rebind(self) -> None:
        """Make a file by the graph of an earlier checkpoint, once there is one. Never raises."""
        if not isinstance(self._brought, FetchedCheckpoint):
            return
        if self._rebound is not None:
            if self._staying.stands(self._rebound.graph):
                return
            self._forget(self._rebound)
        with self._staying.graph() as graph:
            if graph is None:
                return
            task = self._brought.task("rebound")
            try:
                converted = self._workers.rebind(task)
            except ExportFailure as failure:
                self._rebound = _Rebound(graph, task, failure)
                return
            self._rebound = _Rebound(graph, graph.task_of(task, converted), converted)
        self._upload = self._begin_upload(converted)

    def _forget(self, rebound: _Rebound) -> None:
        """Drop what was made by a graph whose own first file turned out to be wrong."""
        self.end_upload()
        self._publication.drop_staged()
        shutil.rmtree(rebound.task.output_dir)
        self._rebound = self._upload = None

    def run(self) -> PodResult:
        """Return the result of what was prepared. Raises ExportFailure."""
        brought = self._brought
        assert brought is not None
        if isinstance(brought, PodResult):
            return brought
        result = self._by_graph(brought)
        if result is not None:
            self._staying.hit()
            return result
        try:
            result = self._climb(brought)
        except BaseException:
            self._staying.reject()
            raise
        self._staying.confirm()
        return result

    def _by_graph(self, brought: FetchedCheckpoint) -> PodResult | None:
        """Return the result if the file made by the graph was verified and published."""
        if self._rebound is None:
            return None
        assert self._staying.keeps(self._rebound.graph)
        task, converted = self._rebound.task, self._rebound.made
        started = time.monotonic()
        try:
            if isinstance(converted, ExportFailure):
                raise converted
            note = partial(self._note, task, started)
            return self._proven(task, converted, brought, note, self._upload)
        except ExportFailure as failure:
            if self._stage is Stage.PUBLISH or failure.reason in _ENDS_THE_RUN:
                raise
            self.end_upload()
            self._staying.missed()
            message = f"{failure.reason}: {printable(failure.message)}"
            self._log.log("info", f"exported afresh, since the kept graph led to {message}")
            self._publication.drop_staged()
            return None
