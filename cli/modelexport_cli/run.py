"""`modelexport run`: the pod's pipeline on this machine, for one checkpoint or a batch."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

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
    from modelexport_cli.found import Found
    from modelexport_exporter.batch.results import Results
    from modelexport_exporter.batch.run import ShareRun

Alter = Callable[[ModelExport], ModelExport]


def run_manifest(
    manifest: Path,
    output: str,
    work_dir: Path | None,
    alter: Alter | None = None,
    *,
    verbose: bool = False,
) -> int:
    """Run a manifest; return the pod's exit code. `alter` changes the manifest first.

    `verbose`: whether to show what workers print.
    """
    started = datetime.now(UTC)
    try:
        resource = read_manifest(manifest)
        resource = alter(resource) if alter else resource
    except ManifestError as error:
        result = invalid_manifest(error, f"Correct {manifest}.")
        return print_result(result, None, started, output)
    from modelexport_cli.preflight import preflight

    known = preflight(resource.spec)
    if known is not None:
        result = PodResult(outcome="Failed", failure=known)
        return print_result(result, resource, started, output)
    return run_resource(resource, output, work_dir, started=started, verbose=verbose)


def invalid_manifest(error: ManifestError, hint: str) -> PodResult:
    """Return the result of a run that ended before it began."""
    failure = Failure(
        reason=Reason.INVALID_MANIFEST,
        message=str(error)[:FAILURE_MESSAGE_LIMIT],
        hint=hint,
        stage=Stage.FETCH,
    )
    return PodResult(outcome="Failed", failure=failure)


def run_resource(
    resource: ModelExport,
    output: str,
    work_dir: Path | None,
    found: Found | None = None,
    *,
    started: datetime,
    verbose: bool = False,
) -> int:
    """Run a resource that passed the preflight; return the pod's exit code.

    `found`: what the user did not state.
    """
    run = _run(resource, work_dir or default_work_dir(), found, verbose=verbose)
    return print_result(run.result, resource, started, output, results=run.results)


def print_result(
    result: PodResult,
    resource: ModelExport | None,
    started: datetime,
    output: str,
    stream: TextIO | None = None,
    *,
    results: Results | None = None,
) -> int:
    """Print the status or the summary; return the exit code."""
    ended = datetime.now(UTC)
    if output == "json":
        generation = resource.metadata.generation if resource else None
        mode = resource.spec.mode if resource else Mode.EXPORT
        status = status_of(result, started, ended, generation, mode)
        print(status.model_dump_json(by_alias=True, exclude_none=True, indent=2))
    else:
        name = resource.metadata.name if resource else ""
        took = (ended - started).total_seconds()
        print_summary(result, results, took, stream or sys.stdout, name)
    return int(result.exit_code)


def default_work_dir() -> Path:
    """Return the directory of this user for downloads and unfinished files."""
    from modelexport_exporter.core.locked_directory import private_parent

    return private_parent()


def _run(resource: ModelExport, work_dir: Path, found: Found | None, *, verbose: bool) -> ShareRun:
    """Export or verify one checkpoint, or all of a batch, which may fail as a whole."""
    is_batch = resource.spec.source.is_batch
    stages = () if is_batch else stages_of(resource.spec.mode)
    with open_log(sys.stderr, stages, verbose=verbose) as log:
        # Imported while the board is shown: it takes longer than all before.
        from modelexport_exporter.batch.max_failed import apply_max_failed
        from modelexport_exporter.batch.run import ShareRun, run_share, run_single
        from modelexport_exporter.pipeline.context import Settings

        settings = Settings(work_dir)
        if found is not None:
            settings = replace(settings, inferred=found.inferred, kept=found.kept)
        if is_batch:
            run = run_share(resource, settings, log)
        else:
            run = ShareRun(run_single(resource, settings, log))
        if run.result.failure is None:
            log.complete()
        else:
            log.fail(run.result.failure)
    if not is_batch:
        return run
    return replace(run, result=apply_max_failed(run.result, resource.spec.max_failed))
