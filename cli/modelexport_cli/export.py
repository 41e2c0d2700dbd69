"""`modelexport export` and `modelexport init`: from a checkpoint alone, without a manifest."""

from __future__ import annotations

import sys
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from modelexport_api.pod import PodResult
from modelexport_api.resource import ManifestError, ModelExport
from modelexport_api.status import Stage
from modelexport_cli.draft import complete, draft_of
from modelexport_cli.export_options import ExportOptions
from modelexport_cli.found import Found
from modelexport_cli.preflight import preflight
from modelexport_cli.run import (
    default_work_dir,
    invalid_manifest,
    print_result,
    run_resource,
)
from modelexport_cli.screen import console_for
from modelexport_exporter.core.errors import ExportFailure
from modelexport_exporter.core.proposal import Proposal

if TYPE_CHECKING:
    from modelexport_exporter.source.fetch import Kept


def export_checkpoint(
    options: ExportOptions, output: str, work_dir: Path | None, *, verbose: bool = False
) -> int:
    """Find the inputs, export, verify and publish; return the exit code."""
    started = datetime.now(UTC)
    with ExitStack() as held:
        try:
            found = infer(options, work_dir or default_work_dir(), held, verbose=verbose)
        except (ManifestError, ExportFailure) as error:
            return print_result(failed_result(error), None, started, output)
        return run_resource(
            found.resource, output, work_dir, found, started=started, verbose=verbose
        )


def write_manifest(
    options: ExportOptions,
    target: Path | None,
    work_dir: Path | None,
    *,
    trigger: bool,
    verbose: bool = False,
) -> int:
    """Find the inputs, and write the manifest of the export or of a trigger."""
    from modelexport_cli.written_manifest import written_manifest

    started = datetime.now(UTC)
    try:
        with ExitStack() as held:
            found = infer(options, work_dir or default_work_dir(), held, verbose=verbose)
    except (ManifestError, ExportFailure) as error:
        return print_result(failed_result(error), None, started, "text", sys.stderr)
    text = written_manifest(found.document, found.inferred, options.checkpoint, trigger=trigger)
    if target is None:
        print(text, end="")
        return 0
    try:
        with target.open("x", encoding="utf-8") as file:
            file.write(text)
    except OSError as error:
        print(f"{target} cannot be written: {error.strerror}", file=sys.stderr)
        return 2
    print(f"{target} is written. Export it with: modelexport run {target}", file=sys.stderr)
    return 0


def infer(
    options: ExportOptions, work_dir: Path, held: ExitStack, *, verbose: bool = False
) -> Found:
    """Return the manifest with the inputs that were found, and show it.

    A checkpoint that was downloaded stays until `held` is closed.
    Raises ManifestError and ExportFailure.
    """
    draft = draft_of(options, _directories(options))
    resource = draft.resource
    known = preflight(resource.spec)
    if known is not None:
        raise ExportFailure(known.reason, known.message, known.hint, stage=known.stage)
    proposal, kept = _proposal(options, resource, work_dir, held, verbose=verbose)
    document, inferred = complete(draft, proposal, options)
    found = Found(document, inferred, kept)
    _show(found, proposal)
    return found


def _directories(options: ExportOptions) -> tuple[Path, ...]:
    here = Path.cwd()
    if "://" in options.checkpoint:
        return (here,)
    checkpoint = Path(options.checkpoint).expanduser().resolve()
    directory = checkpoint if checkpoint.is_dir() else checkpoint.parent
    return tuple(dict.fromkeys((here, directory)))


def _proposal(
    options: ExportOptions,
    resource: ModelExport,
    work_dir: Path,
    held: ExitStack,
    *,
    verbose: bool,
) -> tuple[Proposal, Kept]:
    from modelexport_cli.log import open_log

    with open_log(sys.stderr, (Stage.FETCH, Stage.LOAD), verbose=verbose) as log:
        from modelexport_exporter.pipeline.diagnose_run import Settings
        from modelexport_exporter.pipeline.infer_run import infer_inputs

        try:
            settings = Settings(work_dir)
            found = infer_inputs(resource.spec, options.stated, settings, log, held)
        except ExportFailure as failure:
            log.fail(failure.describe(Stage.LOAD))
            raise
        log.complete()
    return found


def _show(found: Found, proposal: Proposal) -> None:
    from modelexport_cli.plan_view import print_plan

    print_plan(found.resource, proposal, found.inferred, console_for(sys.stderr))


def failed_result(error: ManifestError | ExportFailure) -> PodResult:
    """Return the result of an export that ended before it began."""
    if isinstance(error, ExportFailure):
        return PodResult(outcome="Failed", failure=error.describe(Stage.LOAD))
    return invalid_manifest(
        error, "Correct the command; modelexport export --help describes the options."
    )
