"""The log of a run on stderr: messages, the results of a batch's checkpoints, and progress.

A terminal shows progress as a live board below the messages; a file, a pipe or a dumb terminal gets
a line for each step. What workers print is held back: the last lines of it are printed before the
next message, before the next attempt and at the end. It is dropped for a checkpoint of a batch that
verified.
"""

from __future__ import annotations

import contextlib
import threading
from collections import deque
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Literal, TextIO

from rich.console import Console
from rich.live import Live
from rich.text import Text

from modelexport_api.items import ShareCounts
from modelexport_api.status import Progress, Stage
from modelexport_cli.board import Board
from modelexport_cli.screen import console_for, marks

if TYPE_CHECKING:
    from modelexport_exporter.core.log import Level

WORKER_LINES = 20
"""How many lines of a worker are kept: torch prints whole graphs when a trace fails."""
_STYLES = {"warning": "yellow", "error": "red"}
_FRAMES_PER_SECOND = 8
_MOST_LINES = 3
"""Of a terminal, for one message: the summary and the report have it in full."""
_ORDER = list(Stage)


@contextlib.contextmanager
def open_log(stream: TextIO, stages: Sequence[Stage] = ()) -> Iterator[CommandLog]:
    """Yield a log to a stream; `stages`: those that the run goes through, none for a batch."""
    console = console_for(stream)
    if not stream.isatty() or console.is_dumb_terminal:
        log = CommandLog(console)
        try:
            yield log
        finally:
            log.end()
        return
    board = Board(console, stages)
    log = CommandLog(console, board)
    with Live(
        board,
        console=console,
        refresh_per_second=_FRAMES_PER_SECOND,
        redirect_stdout=False,
        redirect_stderr=False,
    ):
        try:
            yield log
        finally:
            log.end()


class CommandLog:
    """Prints to a console, above a board if there is one."""

    def __init__(self, console: Console, board: Board | None = None) -> None:
        self._console = console
        self._board = board
        self._worker = WorkerOutput()
        self._stage = Stage.FETCH
        self._share: ShareCounts | None = None
        self._lock = threading.Lock()

    def log(self, level: Level, message: str, **fields: Any) -> None:  # noqa: ANN401
        """Print a message; `worker`: a worker printed it; `item`: it is a checkpoint's result."""
        with self._lock:
            if fields.get("worker"):
                self._worker.add(message)
                self._note(message)
            elif "item" in fields:
                self._print_result(message, verified=level == "info")
            else:
                self._print_worker_output()
                prefix = f"{level}: " if level in _STYLES else ""
                self._print(Text(self._cut(f"{prefix}{message}"), _STYLES.get(level, "dim")))

    def progress(
        self,
        progress: Progress,
        share: ShareCounts | None = None,
        **_fields: Any,  # noqa: ANN401
    ) -> None:
        """Move the board, or print a line: for a batch only the first one."""
        with self._lock:
            if share is None and _ORDER.index(progress.stage) < _ORDER.index(self._stage):
                self._print_worker_output()
            if self._board is not None:
                self._board.show(progress, share)
            elif share is None:
                line = f"{progress.percent:3d} %  {progress.stage:<8} {progress.message}"
                self._print(Text(line))
            elif self._share is None:
                self._print(Text(progress.message))
            self._stage, self._share = progress.stage, share

    def complete(self) -> None:
        """Show that the run succeeded."""
        if self._board is not None:
            self._board.complete()

    def end(self) -> None:
        """Print what is held back of one export, and stop the board."""
        with self._lock:
            if self._share is None:
                self._print_worker_output()
            if self._board is not None:
                self._board.end()

    def _print_result(self, message: str, *, verified: bool) -> None:
        if verified:
            self._worker.take()
        else:
            self._print_worker_output()
        done, failed = marks(self._console)
        mark = (done, "green") if verified else (failed, "red")
        number = ""
        if self._share is not None:
            ended = self._share.succeeded + self._share.failed
            number = f" [{ended + 1}/{self._share.share_total}]"
        self._print(Text.assemble(mark, self._cut(f"{number} {message}")))

    def _print_worker_output(self) -> None:
        lines = self._worker.take()
        if lines:
            self._note("")
            shown = Text("\n".join(f"  | {line}" for line in lines), style="dim")
            self._print(shown, cropped=True)

    def _note(self, line: str) -> None:
        """Show a worker's line below the bar, where a batch shows its step."""
        if self._board is not None and self._share is None:
            self._board.note = line

    def _cut(self, message: str) -> str:
        most = _MOST_LINES * self._console.width - 1
        if self._board is None or len(message) <= most:
            return message
        return f"{message[:most]}…"

    def _print(self, text: Text, *, cropped: bool = False) -> None:
        """Print whole lines to a file; to a terminal lines that are wrapped, or cropped."""
        if self._board is None:
            self._console.print(text, soft_wrap=True)
        else:
            overflow: Literal["ellipsis", "fold"] = "ellipsis" if cropped else "fold"
            self._console.print(text, no_wrap=cropped, overflow=overflow)


class WorkerOutput:
    """The last lines that workers printed, and how many came before them."""

    def __init__(self, most: int = WORKER_LINES) -> None:
        self._lines: deque[str] = deque(maxlen=most)
        self._count = 0

    def add(self, line: str) -> None:
        """Add a line."""
        self._lines.append(line)
        self._count += 1

    def take(self) -> list[str]:
        """Return the lines, and forget them."""
        omitted = self._count - len(self._lines)
        lines = [f"… {omitted} lines omitted", *self._lines] if omitted else [*self._lines]
        self._lines.clear()
        self._count = 0
        return lines
