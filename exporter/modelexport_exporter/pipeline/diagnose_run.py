"""The run of a diagnosis: fetch, then a worker that examines the model. Imports no torch.

Of a batch, the first checkpoint is examined: all are expected to have one architecture.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from modelexport_api.resource import ModelExport
from modelexport_api.spec import ModelExportSpec
from modelexport_api.status import Stage
from modelexport_exporter.core import entry_points
from modelexport_exporter.core.diagnosis import Diagnosis
from modelexport_exporter.core.errors import ExportFailure
from modelexport_exporter.core.log import Log
from modelexport_exporter.core.memory import MemoryWatch
from modelexport_exporter.core.progress import ProgressReporter
from modelexport_exporter.core.types import ExportTask
from modelexport_exporter.isolation import server, worker
from modelexport_exporter.isolation.interruption import interruptible
from modelexport_exporter.isolation.sandbox.enter import sandbox_for
from modelexport_exporter.report import text
from modelexport_exporter.source import fetch as fetching
from modelexport_exporter.source.fetch_code import fetch_code
from modelexport_exporter.storage.locate import Stores
from modelexport_exporter.storage.workspace import workspace

TIMEOUT_SECONDS = 300.0


@dataclass(frozen=True)
class Settings:
    """What a diagnosis takes besides the resource."""

    work_dir: Path
    timeout_seconds: float = TIMEOUT_SECONDS
    entry: str = entry_points.DIAGNOSE
    preload: tuple[str, ...] = (entry_points.PRELOAD,)


def diagnose(
    resource: ModelExport,
    settings: Settings,
    log: Log,
    first_of: Callable[[ModelExport, Log], ModelExport],
) -> Diagnosis:
    """Diagnose the model of a resource. Never raises; call it from the main thread.

    `first_of`: returns the export of a batch's first checkpoint.
    """
    started = time.monotonic()
    memory = MemoryWatch()
    report = ProgressReporter(log, memory)
    with interruptible():
        try:
            with workspace(settings.work_dir) as directory:
                server.start_server(settings.preload)
                task, _ = fetch_task(first_of(resource, log).spec, directory, report)
                with worker.sandboxed(sandbox_for(resource.spec, directory)):
                    found = worker.run(
                        settings.entry,
                        (task,),
                        Diagnosis,
                        on_progress=report,
                        on_output=lambda line: log.log("info", line, worker=True),
                        memory=memory,
                        deadline=started + settings.timeout_seconds,
                    )
        except ExportFailure as failure:
            found = _failed_diagnosis(resource.spec, failure.describe(report.stage))
    return found.model_copy(update={"seconds": round(time.monotonic() - started, 2)})


def fetch_task(
    spec: ModelExportSpec, directory: Path, report: ProgressReporter
) -> tuple[ExportTask, fetching.Kept]:
    """Fetch code and checkpoint; return the task of a worker that examines the model."""
    stores = Stores(spec)
    code_dir = None
    if spec.model is not None and spec.model.code is not None:
        code_dir = fetch_code(stores.code(spec.model.code.uri), directory, spec)
    source = stores.source(spec.source.one)
    begun = time.monotonic()
    identity = fetching.identify(source, spec.source)
    fetched = fetching.fetch(source, identity, spec.source, directory / "checkpoint", report)
    size = text.size(identity.size_bytes).replace("\N{NO-BREAK SPACE}", " ")
    report.finish(Stage.FETCH, size, time.monotonic() - begun)
    task = ExportTask(spec, fetched.checkpoint, code_dir, directory)
    return task, fetching.Kept(identity, fetched)


def _failed_diagnosis(spec: ModelExportSpec, failure: object) -> Diagnosis:
    return Diagnosis.model_validate(
        {
            "factory": spec.model.factory if spec.model else None,
            "dims": spec.dims,
            "failure": failure,
        }
    )
