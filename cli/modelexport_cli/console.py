"""What a person sees: progress on stderr while it runs, the verdict at the end.

A terminal gets a bar that moves; a file or a pipe gets plain lines. NO_COLOR is honoured by rich.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, TextIO
from urllib.parse import unquote

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, TextColumn, TimeElapsedColumn
from rich.progress import Progress as Bar
from rich.text import Text

from modelexport_api.pod import PodResult
from modelexport_api.status import Progress

if TYPE_CHECKING:
    from modelexport_exporter.log import Level, Log

_MEGABYTE = 1_000_000


class TerminalLog:
    """One moving bar; messages scroll above it."""

    def __init__(self, bar: Bar) -> None:
        self._bar = bar
        self._task = bar.add_task("starting", total=100)

    def tell(self, level: Level, message: str, **_fields: Any) -> None:  # noqa: ANN401
        """Print a message above the bar."""
        style = {"warning": "yellow", "error": "red"}.get(level, "dim")
        self._bar.console.print(Text(message, style=style))

    def progress(self, progress: Progress, **_fields: Any) -> None:  # noqa: ANN401
        """Move the bar."""
        text = f"[bold]{progress.stage.value:<8}[/] {escape(progress.message)}"
        self._bar.update(self._task, completed=progress.percent, description=text)


class PlainLog:
    """A line for each message and each step of progress."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def tell(self, level: Level, message: str, **_fields: Any) -> None:  # noqa: ANN401
        """Print a message."""
        prefix = f"{level}: " if level in {"warning", "error"} else ""
        print(f"{prefix}{message}", file=self._stream, flush=True)

    def progress(self, progress: Progress, **_fields: Any) -> None:  # noqa: ANN401
        """Print a line."""
        text = f"{progress.percent:3d} %  {progress.stage.value:<8} {progress.message}"
        print(text, file=self._stream, flush=True)


@contextlib.contextmanager
def log_to(stream: TextIO) -> Iterator[Log]:
    """Yield a log for a terminal or for anything else."""
    if not stream.isatty():
        yield PlainLog(stream)
        return
    columns = (
        TextColumn("{task.description}"),
        BarColumn(bar_width=24),
        TextColumn("{task.percentage:>3.0f} %"),
        TimeElapsedColumn(),
    )
    with Bar(*columns, console=Console(file=stream), transient=True) as bar:
        yield TerminalLog(bar)


def print_result(result: PodResult, seconds: float, stream: TextIO) -> None:
    """Print the verdict, the artifact and the report."""
    console = Console(file=stream, highlight=False, soft_wrap=True)
    for label, value, style in _lines(result, seconds):
        console.print(Text.assemble((f"{label:<10}", "bold"), (value, style)))


def _lines(result: PodResult, seconds: float) -> list[tuple[str, str, str]]:
    if result.failure is not None:
        failure = result.failure
        stage = f" in {failure.stage.value}" if failure.stage else ""
        lines = [
            ("Failed", f"{failure.reason.value}{stage}, after {seconds:.1f} s", "bold red"),
            ("", failure.message, ""),
            ("To do", failure.hint, "yellow"),
        ]
    else:
        lines = _success(result, seconds)
    lines.append(("Report", _readable(result.report_uri or "none"), ""))
    return [line for line in lines if line[1]]


def _success(result: PodResult, seconds: float) -> list[tuple[str, str, str]]:
    verification, artifact = result.verification, result.artifact
    assert verification is not None
    assert artifact is not None
    verdict = (
        f"{verification.samples} samples on {verification.provider} agree with eager PyTorch, "
        f"largest relative error {verification.max_rel_error:.1e}"
    )
    how = "was up to date" if result.reused else f"took {seconds:.1f} s"
    size = f"{_size(artifact.size_bytes)}, opset {artifact.opset}, {artifact.exporter}, {how}"
    return [
        (verification.verdict.value, verdict, "bold green"),
        ("Artifact", _readable(artifact.uri), ""),
        ("", size, "dim"),
    ]


def _size(count: int) -> str:
    return f"{count / 1e6:.1f} MB" if count >= _MEGABYTE else f"{count / 1e3:.1f} kB"


def _readable(uri: str) -> str:
    """Show a local file as the path that a shell takes."""
    return unquote(uri.removeprefix("file://")) if uri.startswith("file://") else uri
