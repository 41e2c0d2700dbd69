"""The live display of a run: a row for each stage of one export, and one bar for the whole run.

A row that is over shows what its stage found, and the seconds of the report. A run falls back to
another route by returning to an earlier stage, so a row shows the current attempt: the stages after
the current one are to come again. A batch has no rows, because its stages repeat for every
checkpoint: its current step stands below the bar.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum

from rich.console import Console, Group, RenderableType
from rich.progress import BarColumn, Progress, SpinnerColumn, TaskID, TextColumn
from rich.table import Table
from rich.text import Text

from modelexport_api.items import ShareCounts
from modelexport_api.status import Progress as Step
from modelexport_api.status import Stage
from modelexport_cli.screen import marks

_BAR = 32
_NAME_WIDTH = 10
_ORDER = list(Stage)


class _State(Enum):
    TO_COME = "dim"
    RUNNING = "bold"
    DONE = "green"
    FAILED = "red"


@dataclass
class _Row:
    """A stage: its message is what it does, or what it found."""

    state: _State = _State.TO_COME
    message: str = ""
    started: float = 0.0
    seconds: float | None = None
    """None: it is running, or to come."""


class Board:
    """The renderable that `rich.live.Live` keeps at the bottom of the terminal."""

    def __init__(
        self,
        console: Console,
        stages: Sequence[Stage] = (),
        get_time: Callable[[], float] = time.monotonic,
    ) -> None:
        self._get_time = get_time
        self._done, self._failed = marks(console)
        self._to_come, self._running = (".", ">") if console.options.ascii_only else ("·", "•")
        self._rows = {stage: _Row() for stage in stages}
        self._current: Stage | None = None
        self._is_over = False
        self._bar = Progress(
            SpinnerColumn("line" if console.options.ascii_only else "dots", style="bold"),
            TextColumn("{task.percentage:3.0f} %"),
            BarColumn(_bar_width(console), complete_style="cyan"),
            TextColumn("{task.description}"),
            TextColumn("{task.fields[took]}", style="dim"),
            console=console,
        )
        self._started = get_time()
        self._task: TaskID = self._bar.add_task("", took="")
        self._attempt = ""
        self.note = ""
        """The last line, below the bar and the attempt."""

    def show(self, step: Step, share: ShareCounts | None = None) -> None:
        """Show a step of one export, or of the share of a batch."""
        if self._is_over:
            return
        self._bar.update(self._task, completed=step.percent)
        if share is not None:
            self._bar.update(self._task, description=_counts(share))
            self.note = step.message
            return
        if step.stage is not self._current:
            self._enter(step.stage)
        self._attempt, row = step.attempt or "", self._rows[step.stage]
        if row.state is _State.RUNNING:
            row.message = step.message
        else:  # what is done for it after its result
            self.note = step.message

    def finish(self, stage: Stage, result: str, seconds: float) -> None:
        """Show what a stage found."""
        if not self._is_over:
            self._rows[stage] = _Row(_State.DONE, result, seconds=seconds)

    def complete(self) -> None:
        """Show that the run succeeded."""
        self._close(_State.DONE)

    def leave(self) -> None:
        """Remove the bar; the run goes on without this terminal."""
        self._close(_State.RUNNING)

    def end(self) -> None:
        """Remove the bar, and show a stage that is not completed as failed."""
        self._close(_State.FAILED)

    def __rich__(self) -> RenderableType:
        """Return what the terminal shows now."""
        now = self._get_time()
        parts: list[RenderableType] = [self._table(now)] if self._rows else []
        if self._is_over:
            return Group(*parts)
        self._bar.update(self._task, took=f"{now - self._started:.1f} s")
        parts.append(self._bar)
        parts.extend(
            Text(f"  {line}", style="dim", no_wrap=True, overflow="ellipsis")
            for line in (self._attempt, self.note)
            if line
        )
        return Group(*parts)

    def _table(self, now: float) -> Table:
        table = Table.grid(padding=(0, 1, 0, 0), expand=True)
        table.add_column(no_wrap=True, min_width=_NAME_WIDTH)
        table.add_column(ratio=1, no_wrap=True, overflow="ellipsis")
        table.add_column(no_wrap=True, justify="right", style="dim")
        for stage in sorted(self._rows, key=_ORDER.index):
            row = self._rows[stage]
            runs = row.state is _State.RUNNING and row.seconds is None
            seconds = now - row.started if runs else row.seconds
            table.add_row(
                self._name(stage, row.state),
                Text(row.message),
                "" if seconds is None else f"{seconds:.1f} s",
            )
        return table

    def _name(self, stage: Stage, state: _State) -> Text:
        signs = {
            _State.TO_COME: self._to_come,
            _State.RUNNING: self._running,
            _State.DONE: self._done,
            _State.FAILED: self._failed,
        }
        is_over = state in {_State.DONE, _State.FAILED}
        return Text.assemble(
            (signs[state], state.value), (f" {stage}", "" if is_over else state.value)
        )

    def _enter(self, stage: Stage) -> None:
        """Start a stage: those before it are over, those after it are to come."""
        for other in self._rows:
            if _ORDER.index(other) < _ORDER.index(stage):
                self._leave(other, _State.DONE)
            else:
                self._rows[other] = _Row()
        self._rows[stage] = _Row(_State.RUNNING, started=self._get_time())
        self._current, self.note = stage, ""

    def _leave(self, stage: Stage, state: _State) -> None:
        row = self._rows[stage]
        if row.state is _State.RUNNING:
            self._rows[stage] = _Row(state, seconds=self._get_time() - row.started)

    def _close(self, state: _State) -> None:
        """Settle the stages that are running: what comes later changes nothing."""
        if self._is_over:
            return
        for stage in self._rows:
            self._leave(stage, state)
        self._is_over, self.note = True, ""


def _bar_width(console: Console) -> int:
    """Return a width that leaves room for percent, counts and seconds."""
    return max(4, min(_BAR, console.width - 48))


def _counts(share: ShareCounts) -> str:
    failed = f"{share.failed} failed"
    failed = f"[red]{failed}[/]" if share.failed else failed
    return f"{share.succeeded} verified, {failed} of {share.share_total}"
