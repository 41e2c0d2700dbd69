"""Runs an export in a process of its own, and shows what it prints."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import IO, TextIO

from pydantic import TypeAdapter, ValidationError

from modelexport.arguments import invalid
from modelexport.result import Result
from modelexport_api.reasons import Reason
from modelexport_api.status import ModelExportStatus
from modelexport_cli.export_error import ExportError
from modelexport_cli.export_options import ExportOptions

OPTIONS = TypeAdapter(ExportOptions)
_LAST_LINES = 20
_OPTION = re.compile(r"--input '([^']*)'")
_ALL_OPTIONS = re.compile(rf"{_OPTION.pattern}(?: {_OPTION.pattern})*")
_END_SECONDS = 20.0
"""For a process to remove its files after Ctrl-C."""


def run(
    options: ExportOptions, directory: Path, *, places: Sequence[str], progress: bool
) -> Result:
    """Return the result of an export. Raises ExportError.

    `directory`: for the options and the answer. `places`: where the process finds modules, besides
    where this one does. `progress`: whether to show what the process prints. Ctrl-C ends it.
    """
    request, answer = directory / "options.json", directory / "status.json"
    request.write_bytes(OPTIONS.dump_json(options))
    terminal = _terminal() if progress else None
    with answer.open("wb") as output:
        process = subprocess.Popen(  # noqa: S603 - this Python, and our own file
            # -P: the directory that it starts in is no place for modules.
            [sys.executable, "-P", "-m", "modelexport.child_main", str(request)],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=terminal or subprocess.PIPE,
            encoding="utf-8",
            errors="replace",
            env={**os.environ, "PYTHONPATH": import_path([*sys.path, *places])},
        )
    try:
        lines = _printed(process.stderr, progress=progress) if process.stderr else []
        exit_code = process.wait()
    except BaseException:
        _end(process)
        raise
    return result_of(answer.read_bytes(), exit_code, lines)


def import_path(places: Iterable[str]) -> str:
    """Return the PYTHONPATH by which another process finds the same modules."""
    found = (os.path.abspath(place) for place in places)  # noqa: PTH100 - "" is the working directory
    return os.pathsep.join(dict.fromkeys(found))


def _terminal() -> TextIO | None:
    """Return the terminal that this process prints errors to, which shows a live board."""
    try:
        return sys.stderr if sys.stderr.isatty() and sys.stderr.fileno() >= 0 else None
    except (AttributeError, OSError, ValueError):  # there is no stderr, or it is no file
        return None


def _printed(stream: IO[str], *, progress: bool) -> list[str]:
    """Return the lines that a process prints, and show them.

    A notebook marks what is printed to standard error as an error.
    """
    in_notebook = type(sys.stdout).__module__.startswith("ipykernel")
    shown = sys.stdout if in_notebook else sys.stderr
    lines = []
    for line in stream:
        lines.append(line)
        if progress:
            print(line, end="", file=shown, flush=True)
    return lines


def _end(process: subprocess.Popen[str]) -> None:
    try:
        process.send_signal(signal.SIGINT)
        process.wait(_END_SECONDS)
    finally:  # also after a second Ctrl-C
        process.kill()
        process.wait()


def result_of(answer: bytes, exit_code: int, lines: Sequence[str]) -> Result:
    """Return the result that a process answered with. Raises ExportError.

    `lines`: what it printed besides, for one that ended without an answer.
    """
    try:
        status = ModelExportStatus.model_validate_json(answer)
    except ValidationError:
        raise _without_answer(exit_code, lines) from None
    failure = status.failure
    if failure is None:
        return Result(status)
    if failure.reason is Reason.INVALID_MANIFEST:
        raise invalid(failure.message)
    raise ExportError(failure.reason.value, failure.message, in_python(failure.hint), status)


def in_python(hint: str) -> str:
    """Return a hint with arguments of `export` in place of the command's options."""
    options = _OPTION.findall(hint)
    if not options:
        return hint
    inputs = ", ".join(f'"{option}"' for option in options)
    return _ALL_OPTIONS.sub(lambda _: f"inputs=[{inputs}]", hint, count=1)


def _without_answer(exit_code: int, lines: Sequence[str]) -> ExportError:
    ended = f"was ended by signal {-exit_code}" if exit_code < 0 else f"exited with {exit_code}"
    last = "".join(lines[-_LAST_LINES:]).rstrip()
    return ExportError(
        Reason.WORKER_DIED.value,
        f"the process of the export {ended}" + (f"; it printed:\n{last}" if last else ""),
        "Run it again; if it ends again, report it with this text.",
    )
