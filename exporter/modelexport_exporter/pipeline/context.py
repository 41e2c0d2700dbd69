"""What the steps of one run share: resource, record, log and workers.

A run executes in this process, which stays small: it never imports torch, and everything that
holds weights or runs a user's code happens in workers.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from modelexport_api.resource import ModelExport
from modelexport_api.spec import ModelExportSpec
from modelexport_api.status import Stage
from modelexport_exporter.core import entry_points
from modelexport_exporter.core.inferred import Inferred
from modelexport_exporter.core.log import Log
from modelexport_exporter.core.memory import MemoryWatch
from modelexport_exporter.core.progress import ProgressReporter
from modelexport_exporter.isolation import worker
from modelexport_exporter.isolation.sandbox.enter import sandbox_for
from modelexport_exporter.pipeline.worker_client import WorkerPool, Workers
from modelexport_exporter.report.record import Record
from modelexport_exporter.report.signing import Signer
from modelexport_exporter.source.fetch import Kept


@dataclass(frozen=True)
class Settings:
    """What a run takes besides the resource."""

    work_dir: Path
    export_entry: str = entry_points.EXPORT
    verify_entry: str = entry_points.VERIFY
    preload: tuple[str, ...] = (entry_points.PRELOAD,)
    signer: Signer | None = None
    """Signs the provenance. None: the key is read from the environment, if there is one."""
    inferred: tuple[Inferred, ...] = ()
    """Values of the spec that were not written by the user; the report marks them."""
    kept: Kept | None = None
    """The checkpoint, if this process has fetched it to find the model's inputs."""
    batch: ModelExportSpec | None = None
    """The spec of the whole batch, of whose checkpoints this run exports some."""


@dataclass(frozen=True)
class RunContext:
    """One run of one resource."""

    resource: ModelExport
    settings: Settings
    log: Log
    record: Record
    report: ProgressReporter
    workers: Workers

    @staticmethod
    def create(
        resource: ModelExport, settings: Settings, log: Log, pool: WorkerPool = worker.run
    ) -> RunContext:
        """Return the context of a run that starts now."""
        record = Record(resource, inferred=settings.inferred)
        memory = MemoryWatch()
        report = ProgressReporter(log, memory)
        workers = Workers(
            settings.export_entry,
            settings.verify_entry,
            record,
            report,
            memory,
            log,
            deadline=time.monotonic() + resource.spec.active_deadline_seconds,
            pool=pool,
        )
        return RunContext(resource, settings, log, record, report, workers)

    @contextlib.contextmanager
    def sandboxed(self, directory: Path) -> Iterator[None]:
        """Isolate the workers of the block, which work in a directory; record how.

        Raises ExportFailure if isolation is required and this machine cannot.
        """
        kept = self.settings.kept
        readable = (kept.fetched.checkpoint,) if kept is not None else ()
        sandbox = sandbox_for(self.spec, directory, readable)
        self.record.isolation = sandbox.in_force
        with worker.sandboxed(sandbox):
            yield

    @property
    def spec(self) -> ModelExportSpec:
        """Return the spec of the resource."""
        return self.resource.spec

    @property
    def stage(self) -> Stage | None:
        """Return the stage that was reported last."""
        return self.report.stage
