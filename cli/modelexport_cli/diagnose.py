"""`modelexport diagnose`: what would hinder an export, as tables or as JSON."""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Table
from rich.text import Text

from modelexport_api.reasons import ExitCode
from modelexport_api.resource import ManifestError
from modelexport_cli import console
from modelexport_cli.manifest_file import read_manifest

if TYPE_CHECKING:
    from modelexport_exporter.core.diagnosis import Diagnosis, RouteDiagnosis


def diagnose_manifest(
    manifest: Path, output: str, skeletons: Path | None, timeout: float, work_dir: Path | None
) -> int:
    """Print the diagnosis of a manifest; return the exit code."""
    try:
        resource = read_manifest(manifest)
    except ManifestError as error:
        print(f"{manifest}: {error}", file=sys.stderr)
        return int(ExitCode.MANIFEST)
    from modelexport_exporter.batch.first import first_of
    from modelexport_exporter.pipeline.diagnose_run import Settings, diagnose

    directory = work_dir or Path(tempfile.gettempdir()) / f"modelexport-{os.getuid()}"
    with console.log_to(sys.stderr) as log:
        diagnosis = diagnose(resource, Settings(directory, timeout), log, first_of)
    written = write_skeletons(diagnosis, skeletons) if skeletons is not None else []
    if output == "json":
        print(diagnosis.model_dump_json(by_alias=True, exclude_none=True, indent=2))
    else:
        screen = Console(file=sys.stdout, highlight=False)
        print_diagnosis(diagnosis, screen)
        for path in written:
            screen.print(Text.assemble(("Plugin    ", "bold"), f"{path}: fill it in"))
    return int(diagnosis.exit_code)


def write_skeletons(diagnosis: Diagnosis, directory: Path) -> list[Path]:
    """Write a plugin for each operator; leave files alone that exist, they may be filled in."""
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


def print_diagnosis(diagnosis: Diagnosis, screen: Console) -> None:
    """Print what was understood, then what was found, then what to expect."""
    if diagnosis.failure is not None:
        failure = diagnosis.failure
        stage = f" in {failure.stage.value}" if failure.stage else ""
        _line(screen, "Failed", f"{failure.reason.value}{stage}", "bold red")
        _line(screen, "", failure.message)
        _line(screen, "To do", failure.hint, "yellow")
        return
    factory = f", {diagnosis.factory}" if diagnosis.factory else ""
    form = diagnosis.format.value if diagnosis.format else "unknown"
    _line(screen, "Source", f"{form}{factory}")
    _line(screen, "Model", f"{diagnosis.model}, {diagnosis.parameters:,} parameters")
    _line(screen, "Call", diagnosis.call)
    for entry in diagnosis.inputs:
        shape = ", ".join(str(size) for size in entry.shape)
        _line(screen, "Input", f"{entry.name}: {entry.dtype} [{shape}]")
    for name, dim in diagnosis.dims.items():
        _line(screen, "Dim", f"{name}: {dim.min}..{dim.max}")
    for route in diagnosis.routes:
        _print_route(route, screen)
    if diagnosis.pitfalls:
        _print_pitfalls(diagnosis, screen)
    _print_verdict(diagnosis, screen)


def _print_route(route: RouteDiagnosis, screen: Console) -> None:
    if route.failure is not None:
        _line(screen, "Route", f"{route.route.value}: {route.failure.reason.value}", "bold red")
        _line(screen, "", route.failure.message)
        _line(screen, "To do", route.failure.hint, "yellow")
        return
    if not route.unsupported:
        _line(screen, "Route", f"{route.route.value}: all operators have a translation", "green")
        return
    count = len(route.unsupported)
    _line(screen, "Route", f"{route.route.value}: {count} without a translation", "bold red")
    table = Table(show_edge=False, pad_edge=False)
    for title in ("operator", "uses", "module", "line", "support", "what to do"):
        table.add_column(title, overflow="fold")
    for op in route.unsupported:
        cells = (op.name, str(op.count), op.module, op.source, op.support.value, op.hint)
        table.add_row(*(Text(cell) for cell in cells))
    screen.print(table)


def _print_pitfalls(diagnosis: Diagnosis, screen: Console) -> None:
    _line(screen, "Pitfalls", str(len(diagnosis.pitfalls)), "bold yellow")
    table = Table(show_edge=False, pad_edge=False)
    for title in ("line", "kind", "what", "better"):
        table.add_column(title, overflow="fold")
    for found in diagnosis.pitfalls:
        cells = (found.source, found.kind.value, found.message, found.suggestion)
        table.add_row(*(Text(cell) for cell in cells))
    screen.print(table)


def _print_verdict(diagnosis: Diagnosis, screen: Console) -> None:
    if not diagnosis.hinders and diagnosis.predicted_route is not None:
        text = f"nothing hinders the export; expected route: {diagnosis.predicted_route.value}"
        _line(screen, "Verdict", text, "bold green")
    elif diagnosis.predicted_route is None:
        _line(screen, "Verdict", "no route is open as the model is", "bold red")
    else:
        _line(screen, "Verdict", "the export would not verify: see the pitfalls", "bold red")


def _line(screen: Console, label: str, value: str, style: str = "") -> None:
    if value:
        screen.print(Text.assemble((f"{label:<10}", "bold"), (value, style)), soft_wrap=True)
