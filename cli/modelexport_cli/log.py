"""The log of a run on stderr: messages, the results of a batch's checkpoints, and progress.

A terminal shows progress as a live board below the messages; a file, a pipe or a dumb terminal gets
a line for each event. What workers print is shown only if that is asked for, or if they ended
unexpectedly: then the last lines of it. What the summary prints is not printed here.
"""

from __future__ import annotations

import contextlib
import re
import threading
from collections import deque
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Literal, TextIO

from rich.console import Console
from rich.live import Live
from rich.text import Text

from modelexport_api.items import ShareCounts
from modelexport_api.reasons import Reason
from modelexport_api.status import Failure, Progress, Stage
from modelexport_cli.board import Board
from modelexport_cli.screen import console_for, marks

if TYPE_CHECKING:
    from modelexport_exporter.core.log import Level

WORKER_LINES = 20
"""How many lines of a worker are kept: torch prints whole graphs when a trace fails."""
_LINE_END = re.compile(r"\s*\n\s*")
_STYLES = {"warning": "yellow", "error": "red"}
_FRAMES_PER_SECOND = 8
_MOST_LINES = 3
"""Of a terminal, for one message: the report has it in full."""
UNEXPECTED = frozenset({Reason.INTERNAL_ERROR, Reason.WORKER_DIED})
"""How a worker ends whose output may say why."""


@contextlib.contextmanager
def open_log(
    stream: TextIO, stages: Sequence[Stage] = (), *, verbose: bool = False
) -> Iterator[CommandLog]:
    """Yield a log to a stream; `stages`: those that the run goes through, none for a batch.

    `verbose`: whether to show what workers print, and every message.
    """
    console = console_for(stream)
    if not stream.isatty() or console.is_dumb_terminal:
        yield CommandLog(console, verbose=verbose)
        return
    board = Board(console, stages)
    log = CommandLog(console, board, verbose=verbose)
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
            board.end()


class CommandLog:
    """Prints to a console, above a board if there is one."""

    def __init__(
        self, console: Console, board: Board | None = None, *, verbose: bool = False
    ) -> None:
        self._console = console
        self._board = board
        self._verbose = verbose
        self._worker = WorkerOutput()
        self._share: ShareCounts | None = None
        self._attempt: str | None = None
        self._ended_attempt: Text | None = None
        """Of an attempt that failed: shown when another one begins."""
        self._percent = 0
        self._said: set[str] = set()
        self._lock = threading.Lock()

    def log(self, level: Level, message: str, **fields: Any) -> None:  # noqa: ANN401
        """Print a message that was not printed before, or one with the field `recurs`.

        Field `worker`: a worker printed it; `item`: it is a checkpoint's result; `result`: it is
        what a stage found; `failed`: why an attempt failed.
        """
        with self._lock:
            if fields.get("worker"):
                self._take_worker_line(message)
            elif "item" in fields:
                self._print_result(message, fields.get("reason"), verified=level == "info")
            elif "result" in fields:
                self._finish(fields["stage"], fields["result"], fields["seconds"])
            elif "failed" in fields:
                self._end_attempt(message, fields["failed"], fields["stage"], fields["seconds"])
            elif message not in self._said or fields.get("recurs"):
                self._said.add(message)
                self._print_message(level, message)

    def progress(
        self,
        progress: Progress,
        share: ShareCounts | None = None,
        **_fields: Any,  # noqa: ANN401
    ) -> None:
        """Move the board, or print a line: for a batch only the first one."""
        with self._lock:
            if progress.attempt is not None and progress.attempt != self._attempt:
                self._begin_attempt(progress.attempt)
            if self._board is not None:
                self._board.show(progress, share)
            elif share is None:
                self._print_step(progress.percent, progress.stage, progress.message)
            elif self._share is None:
                self._print(Text(progress.message))
            self._share, self._percent = share, progress.percent

    def complete(self) -> None:
        """Show that the run succeeded."""
        if self._board is not None:
            self._board.complete()

    def leave(self) -> None:
        """Show that the run goes on without this terminal."""
        if self._board is not None:
            self._board.leave()

    def fail(self, failure: Failure) -> None:
        """Show what workers printed, if that may say why the run failed."""
        with self._lock:
            if failure.reason in UNEXPECTED:
                self._print_worker_output()
            elif self._worker.count:
                lines = "1 line" if self._worker.count == 1 else f"{self._worker.count} lines"
                text = f"{lines} that the model's processes printed: --verbose shows them"
                self._print(Text(text, "dim"))

    def _take_worker_line(self, line: str) -> None:
        if self._verbose:
            self._print(Text(f"  | {line}", "dim"), cropped=True)
        else:
            self._worker.add(line)

    def _print_message(self, level: Level, message: str) -> None:
        prefix = f"{level}: " if level in _STYLES else ""
        shown = f"{prefix}{message}"
        self._print(
            Text(shown if level == "error" else self._cut(shown), _STYLES.get(level, "dim"))
        )

    def _finish(self, stage: Stage, result: str, seconds: float) -> None:
        if self._share is not None:
            return
        if self._board is not None:
            self._board.finish(stage, result, seconds)
        else:
            done, _ = marks(self._console)
            self._print_step(self._percent, stage, f"{done} {result} ({seconds:.1f} s)")

    def _print_step(self, percent: int, stage: Stage, message: str) -> None:
        self._print(Text(f"{percent:3d} %  {stage:<8} {message}"))

    def _begin_attempt(self, attempt: str) -> None:
        ended, self._ended_attempt = self._ended_attempt, None
        if ended is not None:
            self._print(ended)
        if self._board is None and self._share is None:
            self._print(Text(attempt))
        self._attempt = attempt

    def _end_attempt(self, message: str, reason: Reason, stage: Stage | None, took: float) -> None:
        """Keep how an attempt ended, until it is known that it is not how the run ended."""
        if reason in UNEXPECTED:
            self._print_worker_output()
        if self._verbose:
            self._print_message("warning", message)
            return
        _, failed = marks(self._console)
        name = self._attempt or message.partition(":")[0]
        where = f" in {stage}" if stage else ""
        self._ended_attempt = Text.assemble(
            (failed, "yellow"), f" {name}: {reason.value}{where} after {took:.1f} s"
        )

    def _print_result(self, message: str, reason: Reason | None, *, verified: bool) -> None:
        if reason in UNEXPECTED:
            self._print_worker_output()
        self._worker.take()
        self._ended_attempt = None
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
            shown = Text("\n".join(f"  | {line}" for line in lines), style="dim")
            self._print(shown, cropped=True)

    def _cut(self, message: str) -> str:
        if self._board is None:
            return _LINE_END.sub(" ", message)
        most = _MOST_LINES * self._console.width - 1
        return message if len(message) <= most else f"{message[:most]}…"

    def _print(self, text: Text, *, cropped: bool = False) -> None:
        """Print whole lines to a file; to a terminal lines that are wrapped, or cropped."""
        if self._board is None:
            self._console.print(text, soft_wrap=True)
        else:
            overflow: Literal["ellipsis", "fold"] = "ellipsis" if cropped else "fold"
            self._console.print(text, no_wrap=cropped, overflow=overflow)


class WorkerOutput:
    """The last lines that workers printed, and how many there were."""

    def __init__(self, most: int = WORKER_LINES) -> None:
        self._lines: deque[str] = deque(maxlen=most)
        self.count = 0

    def add(self, line: str) -> None:
        """Add a line."""
        self._lines.append(line)
        self.count += 1

    def take(self) -> list[str]:
        """Return the lines, and forget them."""
        omitted = self.count - len(self._lines)
        lines = [f"… {omitted} lines omitted", *self._lines] if omitted else [*self._lines]
        self._lines.clear()
        self.count = 0
        return lines
