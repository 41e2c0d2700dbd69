"""What a person sees of a batch: each answer as it comes, below them a bar over all of it.

What workers print is shown for a checkpoint that failed, and forgotten for one that did not.
"""

from __future__ import annotations

import contextlib
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, TextIO

from rich.console import Console, Group, RenderableType
from rich.text import Text

from modelexport_api.items import ShareCounts
from modelexport_api.status import Progress
from modelexport_cli.batch_board import BatchBoard
from modelexport_cli.board import State, WorkerLines
from modelexport_cli.console import (
    FRAMES_PER_SECOND,
    LEVELS,
    NARROW,
    STYLES,
    bar,
    cut,
    is_plain,
    marks_of,
    plain_line,
    showing,
)

if TYPE_CHECKING:
    from modelexport_exporter.core.log import Level, Log

_SHORT_BAR, _BAR = 16, 32


class _BatchLog(ABC):
    """Keeps what is known of the batch, and what workers print until an answer needs it."""

    def __init__(self) -> None:
        self._board = BatchBoard()
        self._lines = WorkerLines()
        self._lock = threading.Lock()

    def log(self, level: Level, message: str, **fields: Any) -> None:  # noqa: ANN401
        """Print a message, or a checkpoint's answer."""
        with self._lock:
            if fields.get("worker"):
                self._lines.hear(message)
                return
            is_answer = "item" in fields
            said = self._lines.taken() if is_answer else []
        if is_answer:
            self._answered(level, message, said if level != "info" else [])
        else:
            self._noted(level, message)

    @abstractmethod
    def _answered(self, level: Level, message: str, said: Sequence[str]) -> None:
        """Print a checkpoint's answer, and before it what workers said if it failed."""

    @abstractmethod
    def _noted(self, level: Level, message: str) -> None:
        """Print any other message."""


class BatchTerminalLog(_BatchLog):
    """Answers scroll by; the bar stays at the bottom."""

    def __init__(self, console: Console) -> None:
        super().__init__()
        self._console = console
        self._marks = marks_of(console)

    def _answered(self, level: Level, message: str, said: Sequence[str]) -> None:
        for line in said:
            self._print(Text(f"  {line}", style="dim"))
        self._print(self._answer(level, message))

    def _noted(self, level: Level, message: str) -> None:
        self._print(Text(self._cut(message), style=LEVELS.get(level, "dim")))

    def progress(
        self,
        progress: Progress,
        share: ShareCounts | None = None,
        **_fields: Any,  # noqa: ANN401
    ) -> None:
        """Move the bar."""
        with self._lock:
            self._board = self._board.moved(progress, share)

    def end(self) -> None:
        """Leave the bar as it is."""
        with self._lock:
            self._board = self._board.ended()

    def _answer(self, level: Level, message: str) -> Text:
        state = State.DONE if level == "info" else State.FAILED
        name, _, said = self._cut(message).partition(": ")
        return Text.assemble((f"{self._marks[state]} {name}", STYLES[state]), f"  {said}")

    def _cut(self, message: str) -> str:
        return cut(message, self._console, beside=3)

    def _print(self, line: Text) -> None:
        self._console.print(line)

    def __rich__(self) -> RenderableType:
        """Return the bar and what is in work."""
        with self._lock:
            board = self._board
        frames = self._marks[State.RUNNING]
        frame = frames[int(time.monotonic() * FRAMES_PER_SECOND) % len(frames)]
        width = _SHORT_BAR if self._console.width < NARROW else _BAR
        counted = Text.assemble(
            bar(board.percent, width, self._marks),
            f" {board.percent:3d} %  {board.verified} verified, ",
            (f"{board.failed} failed", "red" if board.failed else ""),
            f" of {board.total}",
        )
        if board.over:
            return counted
        work = Text.assemble((frame, "bold"), f" {board.message}")
        work.no_wrap, work.overflow = True, "ellipsis"
        return Group(counted, work)


class BatchPlainLog(_BatchLog):
    """A line for each answer, numbered; nothing moves."""

    def __init__(self, stream: TextIO) -> None:
        super().__init__()
        self._stream = stream

    def _answered(self, level: Level, message: str, said: Sequence[str]) -> None:
        del level
        for line in said:
            self._write(f"  | {line}")
        with self._lock:
            board = self._board
        self._write(f"[{board.done + 1}/{board.total}] {message}")

    def _noted(self, level: Level, message: str) -> None:
        self._write(plain_line(level, message))

    def progress(
        self,
        progress: Progress,
        share: ShareCounts | None = None,
        **_fields: Any,  # noqa: ANN401
    ) -> None:
        """Count; the first step tells how many there are."""
        with self._lock:
            before = self._board
            self._board = before.moved(progress, share)
            if before.total == 0:
                self._write(progress.message)

    def _write(self, line: str) -> None:
        print(line, file=self._stream, flush=True)


@contextlib.contextmanager
def log_to(stream: TextIO) -> Iterator[Log]:
    """Yield a batch's log for a terminal or for anything else."""
    if is_plain(stream):
        yield BatchPlainLog(stream)
        return
    console = Console(file=stream, highlight=False)
    log = BatchTerminalLog(console)
    with showing(log, console):
        yield log
