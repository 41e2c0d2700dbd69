"""The pod's process with workers that need no torch; each takes a moment, to be killed in it."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

import small_workers
from modelexport_api.status import Stage
from modelexport_exporter.batch.run import run_single
from modelexport_exporter.core.log import JsonLog
from modelexport_exporter.core.outcome import VerificationOutcome
from modelexport_exporter.core.types import (
    ConvertedModel,
    ExportTask,
    FactoryProgress,
    ReportProgress,
)
from modelexport_exporter.isolation.prctl import set_non_dumpable
from modelexport_exporter.isolation.server import end_orphans
from modelexport_exporter.isolation.socket_directory import remove_socket_directory
from modelexport_exporter.pipeline.context import Settings
from modelexport_exporter.pod import WORK_DIR_ENV, read_manifest, write_termination

_SECONDS = 0.4


def export(task: ExportTask, report: ReportProgress) -> ConvertedModel:
    """Take a moment, and write a file of the checkpoint's bytes."""
    report(Stage.LOAD, 0.0, "reading")
    report(Stage.LOAD, 0.5, FactoryProgress("calling factory small:build"))
    time.sleep(_SECONDS)
    return small_workers.export(task, report)


def verify(
    task: ExportTask, converted: ConvertedModel, report: ReportProgress
) -> VerificationOutcome:
    """Take a moment, and verify."""
    report(Stage.VERIFY, 0.0, "comparing")
    time.sleep(_SECONDS)
    return small_workers.verify(task, converted, report)


def main() -> int:
    """Run the export that the environment describes."""
    from chaos.kills.workload import SMALL

    set_non_dumpable()
    settings = Settings(Path(os.environ[WORK_DIR_ENV]), **SMALL.entries)
    result = run_single(read_manifest(os.environ), settings, JsonLog(sys.stderr))
    end_orphans()
    remove_socket_directory()
    write_termination(result, os.environ)
    return int(result.exit_code)


if __name__ == "__main__":
    code = main()
    sys.stderr.flush()
    os._exit(code)
