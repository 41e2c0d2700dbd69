"""`modelexport run`: the pod's pipeline on this machine, for one checkpoint or a batch."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from modelexport_api.conditions import stages_of
from modelexport_api.pod import PodResult
from modelexport_api.reasons import Reason
from modelexport_api.resource import ManifestError, ModelExport
from modelexport_api.spec import Mode
from modelexport_api.status import FAILURE_MESSAGE_LIMIT, Failure, Stage
from modelexport_cli.log import open_log
from modelexport_cli.manifest_file import read_manifest
from modelexport_cli.status import status_of
from modelexport_cli.summary import print_summary

if TYPE_CHECKING:
    from modelexport_exporter.batch.run import ShareRun

Alter = Callable[[ModelExport], ModelExport]


def run_manifest(
    manifest: Path, output: str, work_dir: Path | None, alter: Alter | None = None
) -> int:
    """Run a manifest; return the pod's exit code. `alter` changes the manifest first."""
    started = datetime.now(UTC)
    generation, mode, name, results = None, Mode.EXPORT, "", None
    try:
        resource = read_manifest(manifest)
        resource = alter(resource) if alter else resource
    except ManifestError as error:
        failure = Failure(
            reason=Reason.INVALID_MANIFEST,
            message=str(error)[:FAILURE_MESSAGE_LIMIT],
            hint=f"Correct {manifest}.",
            stage=Stage.FETCH,
        )
        result = PodResult(outcome="Failed", failure=failure)
    else:
        metadata, mode = resource.metadata, resource.spec.mode
        generation, name = metadata.generation, metadata.name
        run = _run(resource, work_dir or default_work_dir())
        result, results = run.result, run.results
    ended = datetime.now(UTC)
    if output == "json":
        status = status_of(result, started, ended, generation, mode)
        print(status.model_dump_json(by_alias=True, exclude_none=True, indent=2))
    else:
        print_summary(result, results, (ended - started).total_seconds(), sys.stdout, name)
    return int(result.exit_code)


def default_work_dir() -> Path:
    """Return the directory of this user for downloads and unfinished files."""
    return Path(tempfile.gettempdir()) / f"modelexport-{os.getuid()}"


def _run(resource: ModelExport, work_dir: Path) -> ShareRun:
    """Export or verify one checkpoint, or all of a batch, which may fail as a whole."""
    from modelexport_exporter.batch.max_failed import apply_max_failed
    from modelexport_exporter.batch.run import ShareRun, run_share, run_single
    from modelexport_exporter.pipeline.context import Settings

    settings = Settings(work_dir)
    if not resource.spec.source.is_batch:
        with open_log(sys.stderr, stages_of(resource.spec.mode)) as log:
            result = run_single(resource, settings, log)
            if result.failure is None:
                log.complete()
        return ShareRun(result)
    with open_log(sys.stderr) as log:
        run = run_share(resource, settings, log)
    return replace(run, result=apply_max_failed(run.result, resource.spec.max_failed))
