"""What the two stories of the pod have in common: their parts, and that they end with a result.

A story is told in this process, which stays small: it never imports torch, and everything that
holds weights or runs a user's code happens in workers.
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from dataclasses import dataclass
from pathlib import Path

from modelexport_api.pod import PodResult
from modelexport_api.reasons import Reason
from modelexport_api.resource import ModelExport
from modelexport_api.status import Failure, Stage
from modelexport_exporter.core import entry_points
from modelexport_exporter.core.errors import ExportFailure, printable
from modelexport_exporter.core.log import Log
from modelexport_exporter.core.memory import MemoryWatch
from modelexport_exporter.core.progress import ProgressReporter
from modelexport_exporter.isolation import worker
from modelexport_exporter.pipeline.worker_client import WorkerPool, Workers
from modelexport_exporter.report.record import Record
from modelexport_exporter.report.signing import Signer

_UNREPORTED = frozenset({Reason.DESTINATION_DENIED, Reason.INVALID_MANIFEST})


@dataclass(frozen=True)
class Settings:
    """What a run takes besides the resource."""

    work_dir: Path
    export_entry: str = entry_points.EXPORT
    verify_entry: str = entry_points.VERIFY
    preload: tuple[str, ...] = (entry_points.PRELOAD,)
    signer: Signer | None = None
    """Who signs the provenance, where that was found out before. Absent: the environment tells."""


class Story(ABC):
    """One run of one resource."""

    def __init__(
        self, resource: ModelExport, settings: Settings, log: Log, pool: WorkerPool = worker.run
    ) -> None:
        self._spec = resource.spec
        self._settings = settings
        self._log = log
        self._record = Record(resource)
        memory = MemoryWatch()
        self._report = ProgressReporter(log, memory)
        self._workers = Workers(
            settings.export_entry,
            settings.verify_entry,
            self._record,
            self._report,
            memory,
            log,
            deadline=time.monotonic() + self._spec.active_deadline_seconds,
            pool=pool,
        )

    @abstractmethod
    def run(self) -> PodResult:
        """Return the result. Raises ExportFailure."""

    @abstractmethod
    def _tell_failure(self, failure: Failure) -> str:
        """Publish the report of a failure; return its URI."""

    @property
    def _stage(self) -> Stage | None:
        return self._report.stage

    def fail(self, failure: ExportFailure) -> PodResult:
        """Return the result for a failure, and publish its report where that is possible."""
        described = failure.describe(self._stage)
        report_uri = None
        if failure.reason not in _UNREPORTED:
            try:
                report_uri = self._tell_failure(described)
            except Exception as second:  # noqa: BLE001 - the first failure is the one to tell
                message = f"the report could not be stored: {printable(str(second))}"
                self._log.log("warning", message)
        return self._record.failure_result(described, report_uri)
