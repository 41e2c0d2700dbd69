"""`modelexport run`: the pod's pipeline on this machine, and an answer a person can read."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

from modelexport_api.conditions import stages_of
from modelexport_api.pod import PodResult
from modelexport_api.reasons import Reason
from modelexport_api.resource import ManifestError, ModelExport
from modelexport_api.spec import Mode
from modelexport_api.status import Failure, Stage
from modelexport_cli import console, verdict
from modelexport_cli.manifest_file import read_manifest
from modelexport_cli.outcome import status_of

Alter = Callable[[ModelExport], ModelExport]


def run_manifest(
    manifest: Path, output: str, work_dir: Path | None, alter: Alter | None = None
) -> int:
    """Run a manifest; return the pod's exit code. `alter` changes what it asks for."""
    started = datetime.now(UTC)
    generation, mode, name = None, Mode.EXPORT, ""
    try:
        resource = read_manifest(manifest)
        resource = alter(resource) if alter else resource
    except ManifestError as error:
        failure = Failure(
            reason=Reason.INVALID_MANIFEST,
            message=str(error)[:2048],
            hint=f"Correct {manifest}.",
            stage=Stage.FETCH,
        )
        result = PodResult(outcome="Failed", failure=failure)
    else:
        from modelexport_exporter.batch.run import run_single
        from modelexport_exporter.pipeline.run_base import Settings

        settings = Settings(work_dir or _default_work_dir())
        if resource.spec.source.is_batch:
            from modelexport_cli.batch_run import run_batch

            return run_batch(resource, settings, output)
        generation, mode = resource.metadata.generation, resource.spec.mode
        name = resource.metadata.name
        with console.log_to(sys.stderr, stages_of(mode)) as log:
            result = run_single(resource, settings, log)
    status = status_of(result, started, datetime.now(UTC), generation, mode)
    if output == "json":
        print(status.model_dump_json(by_alias=True, exclude_none=True, indent=2))
    else:
        seconds = (datetime.now(UTC) - started).total_seconds()
        verdict.print_result(result, seconds, sys.stdout, name)
    return int(result.exit_code)


def _default_work_dir() -> Path:
    return Path(tempfile.gettempdir()) / f"modelexport-{os.getuid()}"
