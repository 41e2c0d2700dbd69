"""Runs an export in a process of its own, and shows what it prints."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading

from pydantic import TypeAdapter

from modelexport.result import Result
from modelexport_api.status import ModelExportStatus
from modelexport_cli.export_error import ExportError
from modelexport_cli.export_options import ExportOptions

OPTIONS = TypeAdapter(ExportOptions)
_LAST_LINES = 20


def run(options: ExportOptions, *, progress: bool) -> Result:
    """Return the result of an export. Raises ExportError.

    `progress`: whether to show what the process prints to stderr. Ctrl-C ends it.
    """
    # The child imports what this process can import, a notebook's directory included.
    path = os.pathsep.join(entry or os.getcwd() for entry in sys.path)  # noqa: PTH109
    process = subprocess.Popen(
        [sys.executable, "-m", "modelexport.child_main"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": path},
    )
    lines: list[str] = []
    shown = threading.Thread(target=_show, args=(process, lines, progress), daemon=True)
    shown.start()
    try:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(OPTIONS.dump_json(options).decode())
        process.stdin.close()
        text = process.stdout.read()
        process.wait()
    except BaseException:
        process.send_signal(signal.SIGINT)
        process.wait()
        raise
    finally:
        shown.join()
    return _result(text, process.returncode, lines)


def _show(process: subprocess.Popen[str], lines: list[str], progress: bool) -> None:
    assert process.stderr is not None
    for line in process.stderr:
        lines.append(line)
        if progress:
            print(line, end="", file=sys.stderr, flush=True)


def _result(text: str, exit_code: int, lines: list[str]) -> Result:
    if not text.strip():
        raise ExportError(
            "WorkerDied",
            f"the process of the export ended with exit code {exit_code}; it printed:\n"
            + "".join(lines[-_LAST_LINES:]),
            "Run it again; if it ends again, report it with this text.",
        )
    status = ModelExportStatus.model_validate_json(text)
    if status.failure is not None:
        failure = status.failure
        raise ExportError(failure.reason.value, failure.message, failure.hint, status)
    return Result(status)
