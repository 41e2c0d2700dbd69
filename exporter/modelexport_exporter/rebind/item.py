"""The story of one checkpoint of a batch: by the graph of an earlier one, or afresh.

bring (ahead of its turn) -> rebind (ahead of its turn) -> verify -> publish
                             any failure: the whole ladder, in fresh processes
"""

from __future__ import annotations

import time
from contextlib import ExitStack
from functools import partial
from pathlib import Path

from modelexport_api.pod import PodResult
from modelexport_api.reasons import Reason
from modelexport_api.resource import ModelExport
from modelexport_api.status import Stage
from modelexport_exporter.belongings import Belongings
from modelexport_exporter.brought import Brought
from modelexport_exporter.early_upload import EarlyUpload
from modelexport_exporter.failure import ExportFailure, printable
from modelexport_exporter.log import Log
from modelexport_exporter.pipeline import Pipeline
from modelexport_exporter.rebind.crew import StayingCrew
from modelexport_exporter.story import Settings
from modelexport_exporter.values import ConvertedModel, ExportTask

_ENDS_THE_RUN = frozenset({Reason.INTERRUPTED, Reason.DEADLINE_EXCEEDED})


class ItemPipeline(Pipeline):
    """One run of one checkpoint of a batch."""

    def __init__(
        self, resource: ModelExport, settings: Settings, log: Log, crew: StayingCrew
    ) -> None:
        super().__init__(resource, settings, log, crew)
        self._staying = crew
        self._brought: Brought | PodResult | None = None
        self._rebound: tuple[ExportTask, ConvertedModel] | ExportFailure | None = None
        self._upload: EarlyUpload | None = None

    def prepare(self, directory: Path, held: ExitStack, belongings: Belongings) -> None:
        """Bring the checkpoint. Raises ExportFailure."""
        self._brought = self.bring(directory, held, belongings)

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
        if self._rebound is not None or not isinstance(self._brought, Brought):
            return
        with self._staying.graph() as graph:
            if graph is None:
                return
            task = self._brought.task("rebound")
            try:
                converted = self._workers.rebind(task)
            except ExportFailure as failure:
                self._rebound = failure
                return
            self._rebound = graph.task_of(task, converted), converted
        self._upload = self._begin_upload(converted)

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
        result = self._climb(brought)
        assert self._record.converted is not None
        self._staying.confirm(self._record.converted)
        return result

    def _by_graph(self, brought: Brought) -> PodResult | None:
        """Return the result if the file made by the graph was verified and published."""
        if self._rebound is None:
            return None
        started = time.monotonic()
        try:
            if isinstance(self._rebound, ExportFailure):
                raise self._rebound
            task, converted = self._rebound
            note = partial(self._note, task, started)
            return self._proven(task, converted, brought, note, self._upload)
        except ExportFailure as failure:
            if self._stage is Stage.PUBLISH or failure.reason in _ENDS_THE_RUN:
                raise
            self.end_upload()
            self._staying.missed()
            message = f"{failure.reason}: {printable(failure.message)}"
            self._log.tell("info", f"exported afresh, since the kept graph led to {message}")
            self._publication.drop_staged()
            return None
