"""`modelexport diagnose`: what would make an export fail, as tables or as JSON."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console

from modelexport_api.reasons import ExitCode
from modelexport_api.resource import ManifestError, ModelExport
from modelexport_api.status import Failure, Stage
from modelexport_cli.log import open_log
from modelexport_cli.manifest_file import read_manifest
from modelexport_cli.run import default_work_dir
from modelexport_cli.screen import console_for, print_table, print_value

if TYPE_CHECKING:
    from modelexport_exporter.core.diagnosis import Diagnosis, RouteDiagnosis

_STAGES = (Stage.FETCH, Stage.LOAD, Stage.CAPTURE)


def diagnose_manifest(
    manifest: Path,
    output: str,
    skeletons: Path | None,
    timeout: float,
    work_dir: Path | None,
    *,
    verbose: bool = False,
) -> int:
    """Print the diagnosis of a manifest; return the exit code."""
    try:
        resource = read_manifest(manifest)
    except ManifestError as error:
        print(f"{manifest}: {error}", file=sys.stderr)
        return int(ExitCode.MANIFEST)
    from modelexport_cli.preflight import preflight
    from modelexport_exporter.core.diagnosis import Diagnosis

    known = preflight(resource.spec, publishes=False)
    if known is not None:
        diagnosis = Diagnosis(failure=known)
    else:
        diagnosis = _diagnose(resource, work_dir or default_work_dir(), timeout, verbose=verbose)
    written = write_skeletons(diagnosis, skeletons) if skeletons is not None else []
    if output == "json":
        print(diagnosis.model_dump_json(by_alias=True, exclude_none=True, indent=2))
    else:
        console = console_for(sys.stdout)
        print_diagnosis(diagnosis, console)
        for path in written:
            print_value(console, "Plugin", f"{path}: complete it", wrap=False)
    return int(diagnosis.exit_code)


def _diagnose(resource: ModelExport, work_dir: Path, timeout: float, *, verbose: bool) -> Diagnosis:
    with open_log(sys.stderr, _STAGES, verbose=verbose) as log:
        from modelexport_exporter.batch.first_checkpoint import first_checkpoint
        from modelexport_exporter.pipeline.diagnose_run import Settings, diagnose

        diagnosis = diagnose(resource, Settings(work_dir, timeout), log, first_checkpoint)
        if diagnosis.failure is None:
            log.complete()
        else:
            log.fail(diagnosis.failure)
    return diagnosis


def write_skeletons(diagnosis: Diagnosis, directory: Path) -> list[Path]:
    """Write a plugin for each operator, but do not overwrite files: a user may have edited them."""
    directory.mkdir(parents=True, exist_ok=True)
    texts = {
        op.skeleton_file: op.skeleton for route in diagnosis.routes for op in route.unsupported
    }
    written = []
    for name, text in texts.items():
        path = directory / name
        if not path.exists():
            path.write_text(text, encoding="utf-8")
            written.append(path)
    return written


def print_diagnosis(diagnosis: Diagnosis, console: Console) -> None:
    """Print the model, then the routes and pitfalls, then the expected result of an export."""
    if diagnosis.failure is not None:
        _print_failure(console, "Failed", "", diagnosis.failure)
        return
    factory = f", {diagnosis.factory}" if diagnosis.factory else ""
    form = diagnosis.format.value if diagnosis.format else "unknown"
    print_value(console, "Source", f"{form}{factory}")
    print_value(console, "Model", f"{diagnosis.model}, {diagnosis.parameters:,} parameters")
    print_value(console, "Call", diagnosis.call)
    for entry in diagnosis.inputs:
        shape = ", ".join(str(size) for size in entry.shape)
        print_value(console, "Input", f"{entry.name}: {entry.dtype} [{shape}]")
    for name, dim in diagnosis.dims.items():
        print_value(console, "Dim", f"{name}: {dim.min}..{dim.max}")
    for route in diagnosis.routes:
        _print_route(route, console)
    if diagnosis.pitfalls:
        _print_pitfalls(diagnosis, console)
    _print_verdict(diagnosis, console)


def _print_route(route: RouteDiagnosis, console: Console) -> None:
    name, count = route.route.value, len(route.unsupported)
    if route.failure is not None:
        _print_failure(console, "Route", f"{name}: ", route.failure)
    elif not count:
        print_value(console, "Route", f"{name}: all operators can be translated", "green")
    else:
        noun = "operator has" if count == 1 else "operators have"
        print_value(console, "Route", f"{name}: {count} {noun} no translation", "bold red")
        print_table(
            console,
            ("operator", "uses", "module", "line", "support", "what to do"),
            [
                (op.name, str(op.count), op.module, op.source, op.support.value, op.hint)
                for op in route.unsupported
            ],
        )


def _print_failure(console: Console, label: str, subject: str, failure: Failure) -> None:
    stage = f" in {failure.stage.value}" if failure.stage else ""
    print_value(console, label, f"{subject}{failure.reason.value}{stage}", "bold red")
    print_value(console, "Message", failure.message)
    print_value(console, "Hint", failure.hint, "yellow")


def _print_pitfalls(diagnosis: Diagnosis, console: Console) -> None:
    print_value(console, "Pitfalls", str(len(diagnosis.pitfalls)), "bold yellow")
    print_table(
        console,
        ("line", "kind", "problem", "better"),
        [
            (found.source, found.kind.value, found.message, found.suggestion)
            for found in diagnosis.pitfalls
        ],
    )


def _print_verdict(diagnosis: Diagnosis, console: Console) -> None:
    route = diagnosis.predicted_route
    if route is None:
        print_value(console, "Verdict", "no route can export this model as it is", "bold red")
    elif diagnosis.hinders:
        print_value(console, "Verdict", "the export would fail: see the pitfalls", "bold red")
    elif diagnosis.predicted_attempt is not None:
        text = f"the export is expected to use the attempt {diagnosis.predicted_attempt}"
        print_value(console, "Verdict", text, "bold green")
    else:
        text = f"no problem found; the export is expected to use the route {route.value}"
        print_value(console, "Verdict", text, "bold green")
