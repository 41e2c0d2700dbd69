"""What a person sees: the stages on stderr while it runs, the verdict at the end.

A terminal gets a list of stages that moves; a file, a pipe or a dumb terminal gets plain lines.
NO_COLOR is honoured by rich.
"""

from __future__ import annotations

import contextlib
import os
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol, TextIO

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.table import Table
from rich.text import Text

from modelexport_api.status import Progress, Stage
from modelexport_cli.board import Board, Row, State, WorkerLines

if TYPE_CHECKING:
    from modelexport_exporter.core.log import Level, Log

_MARKS = {
    State.TO_COME: "·",
    State.SKIPPED: "·",
    State.RUNNING: "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏",
    State.DONE: "✓",
    State.FAILED: "✗",
}
_ASCII_MARKS = {
    State.TO_COME: ".",
    State.SKIPPED: ".",
    State.RUNNING: "|/-\\",
    State.DONE: "+",
    State.FAILED: "x",
}
STYLES = {
    State.TO_COME: "dim",
    State.SKIPPED: "dim",
    State.RUNNING: "bold",
    State.DONE: "green",
    State.FAILED: "red",
}
LEVELS = {"warning": "yellow", "error": "red"}
FRAMES_PER_SECOND = 8
NARROW = 70
_SHORT_BAR, _BAR = 10, 20
_MOST_LINES = 3
"""Of the terminal's width, for a message that the verdict or the report tells in full."""


def marks_of(console: Console) -> Mapping[State, str]:
    """Return a mark for each state, or its frames, that the terminal can show."""
    return _MARKS if console.encoding.startswith("utf") else _ASCII_MARKS


def cut(message: str, console: Console, beside: int) -> str:
    """Return as much of a message as is shown; `beside`: characters that stand there with it."""
    most = _MOST_LINES * console.width - beside
    return message if len(message) <= most else f"{message[:most]}…"


def bar(percent: int, width: int, marks: Mapping[State, str]) -> Text:
    """Return a bar in the style of the marks."""
    filled = round(width * percent / 100)
    full, empty = ("━", "─") if marks is _MARKS else ("#", "-")
    return Text.assemble((full * filled, "cyan"), (empty * (width - filled), "dim"))


def plain_line(level: Level, message: str) -> str:
    """Return a message as a line without colours."""
    return f"{level}: {message}" if level in LEVELS else message


def is_plain(stream: TextIO) -> bool:
    """Tell whether a stream shows lines and nothing that moves."""
    return not stream.isatty() or os.environ.get("TERM") == "dumb"


class TerminalLog:
    """The list of stages at the bottom; messages scroll above it."""

    def __init__(self, console: Console, stages: Sequence[Stage]) -> None:
        self._console = console
        self._board = Board(tuple(stages))
        self._lines = WorkerLines()
        self._lock = threading.Lock()
        self._marks = marks_of(console)

    def log(self, level: Level, message: str, **fields: Any) -> None:  # noqa: ANN401
        """Print a message above the list; what workers print waits for the end of the attempt."""
        if fields.get("worker"):
            with self._lock:
                self._lines.hear(message)
            return
        self._flush()
        shown = cut(message, self._console, beside=1)
        self._console.print(Text(shown, style=LEVELS.get(level, "dim")))

    def progress(self, progress: Progress, **_fields: Any) -> None:  # noqa: ANN401
        """Move the list."""
        if self._board.goes_back(progress):
            self._flush()
        with self._lock:
            self._board = self._board.moved(progress, time.monotonic())

    def end(self) -> None:
        """Stop all clocks."""
        self._flush()
        with self._lock:
            self._board = self._board.ended(time.monotonic())

    def _flush(self) -> None:
        """Print what workers said. Not under the lock: whoever draws the list waits for it."""
        with self._lock:
            lines = self._lines.taken()
        if lines:
            shown = Text("\n".join(f"  {line}" for line in lines), style="dim")
            self._console.print(shown, no_wrap=True, overflow="ellipsis")

    def __rich__(self) -> RenderableType:
        """Return the list as it is now."""
        with self._lock:
            now = time.monotonic()
            table = Table.grid(padding=(0, 1), expand=True)
            table.add_column(width=1)
            table.add_column(width=8)
            table.add_column(ratio=1, no_wrap=True, overflow="ellipsis")
            table.add_column(justify="right", no_wrap=True)
            for row in self._board.rows(now):
                table.add_row(*self._cells(row, now))
            if not self._lines.last:
                return table
            last = Text(f"  {self._lines.last}", style="dim", no_wrap=True, overflow="ellipsis")
            return Group(table, last)

    def _cells(self, row: Row, now: float) -> tuple[Text, Text, Text, Text]:
        marks = self._marks[row.state]
        mark = marks[int(now * FRAMES_PER_SECOND) % len(marks)]
        style = STYLES[row.state]
        seconds = "" if row.seconds is None else f"{row.seconds:.1f} s"
        detail = Text(row.message, style="" if row.state is State.RUNNING else "dim")
        if row.state is State.RUNNING:
            detail = Text.assemble(self._bar(), f" {self._board.percent:2d} %  ", detail)
        name_style = style if row.state in {State.RUNNING, State.TO_COME, State.SKIPPED} else ""
        return (
            Text(mark, style=style),
            Text(row.stage.value, style=name_style),
            detail,
            Text(seconds, style="dim"),
        )

    def _bar(self) -> Text:
        width = _SHORT_BAR if self._console.width < NARROW else _BAR
        return bar(self._board.percent, width, self._marks)


class PlainLog:
    """A line for each message and each step of progress."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._board = Board(())
        self._lines = WorkerLines()
        self._lock = threading.Lock()

    def log(self, level: Level, message: str, **fields: Any) -> None:  # noqa: ANN401
        """Print a message; what workers print waits for the end of the attempt."""
        with self._lock:
            if fields.get("worker"):
                self._lines.hear(message)
                return
            self._flush()
            self._write(plain_line(level, message))

    def progress(self, progress: Progress, **_fields: Any) -> None:  # noqa: ANN401
        """Print a line."""
        with self._lock:
            if self._board.goes_back(progress):
                self._flush()
            self._board = self._board.moved(progress, time.monotonic())
            stage = progress.stage.value
            self._write(f"{progress.percent:3d} %  {stage:<8} {progress.message}")

    def end(self) -> None:
        """Print what is left."""
        with self._lock:
            self._flush()

    def _flush(self) -> None:
        for line in self._lines.taken():
            self._write(f"  | {line}")

    def _write(self, line: str) -> None:
        print(line, file=self._stream, flush=True)


@contextlib.contextmanager
def log_to(stream: TextIO, stages: Sequence[Stage] = ()) -> Iterator[Log]:
    """Yield a log for a terminal or for anything else; `stages`: those that are sure to come."""
    if is_plain(stream):
        plain = PlainLog(stream)
        try:
            yield plain
        finally:
            plain.end()
        return
    console = Console(file=stream, highlight=False)
    log = TerminalLog(console, stages)
    with showing(log, console):
        yield log


class Ending(Protocol):
    """A picture that changes until it ends."""

    def __rich__(self) -> RenderableType:
        """Return what it shows now."""

    def end(self) -> None:
        """Show no more than what stays."""


@contextlib.contextmanager
def showing(picture: Ending, console: Console) -> Iterator[None]:
    """Keep a picture at the end of a terminal while the block runs."""
    with Live(
        picture,
        console=console,
        refresh_per_second=FRAMES_PER_SECOND,
        redirect_stdout=False,
        redirect_stderr=False,
    ):
        try:
            yield
        finally:
            picture.end()
