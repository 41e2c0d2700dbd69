"""Finds a model's inputs: fetch, then a worker that runs the model. Imports no torch."""

from __future__ import annotations

import time
from contextlib import ExitStack

from modelexport_api.spec import ModelExportSpec
from modelexport_exporter.core import entry_points
from modelexport_exporter.core.log import Log
from modelexport_exporter.core.memory import MemoryWatch
from modelexport_exporter.core.progress import ProgressReporter
from modelexport_exporter.core.proposal import Proposal, Stated
from modelexport_exporter.isolation import server, worker
from modelexport_exporter.isolation.interruption import interruptible
from modelexport_exporter.isolation.sandbox.enter import sandbox_for
from modelexport_exporter.pipeline.diagnose_run import Settings, fetch_task
from modelexport_exporter.source.fetch import Kept
from modelexport_exporter.source.imported_libraries import libraries_of
from modelexport_exporter.storage.workspace import workspace


def infer_inputs(
    spec: ModelExportSpec, stated: Stated, settings: Settings, log: Log, held: ExitStack
) -> tuple[Proposal, Kept]:
    """Return the inputs and dims of a model, and its checkpoint.

    What was downloaded stays until `held` is closed. The inputs of the spec are not read.
    Call it from the main thread. Raises ExportFailure.
    """
    memory = MemoryWatch()
    report = ProgressReporter(log, memory)
    with interruptible():
        directory = held.enter_context(workspace(settings.work_dir))
        task, kept = fetch_task(spec, directory, report)
        server.start_server(settings.preload, libraries_of(spec, task.code_dir))
        with worker.sandboxed(sandbox_for(spec, directory)):
            found = worker.run(
                entry_points.INFER,
                (task, stated),
                Proposal,
                on_progress=report,
                on_output=lambda line: log.log("info", line, worker=True),
                memory=memory,
                deadline=time.monotonic() + settings.timeout_seconds,
            )
    return found, kept
