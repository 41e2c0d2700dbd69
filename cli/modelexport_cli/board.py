"""The live display of a run: a row for each stage of one export, and one bar for the whole run.

A run falls back to another route by returning to an earlier stage, so a row shows the current
attempt: the stages after the current one are to come again. A batch has no rows, because its stages
repeat for every checkpoint: its current step stands below the bar.
"""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console, Group, RenderableType
from rich.progress import (
    BarColumn,
    GetTimeCallable,
    Progress,
    ProgressColumn,
    SpinnerColumn,
    Task,
    TaskID,
    TextColumn,
)
from rich.table import Column
from rich.text import Text

from modelexport_api.items import ShareCounts
from modelexport_api.status import Progress as Step
from modelexport_api.status import Stage
from modelexport_cli.screen import marks

_ALL = 100
_BAR = 32
_ORDER = list(Stage)


class Board:
    """The renderable that `rich.live.Live` keeps at the bottom of the terminal."""

    def __init__(
        self,
        console: Console,
        stages: Sequence[Stage] = (),
        get_time: GetTimeCallable | None = None,
    ) -> None:
        message = Column(ratio=1, no_wrap=True, overflow="ellipsis")
        self._stages = Progress(
            _StageColumn(console),
            TextColumn("{task.fields[message]}", markup=False, table_column=message),
            _SecondsColumn(),
            console=console,
            get_time=get_time,
            expand=True,
        )
        self._total = Progress(
            SpinnerColumn("line" if console.options.ascii_only else "dots", style="bold"),
            TextColumn("{task.percentage:3.0f} %"),
            BarColumn(None, complete_style="cyan", table_column=Column(max_width=_BAR)),
            TextColumn("{task.description}"),
            _SecondsColumn(),
            console=console,
            get_time=get_time,
        )
        self._rows: dict[Stage, TaskID] = {}
        self._bar = self._total.add_task("", earlier=0.0)
        self._current: Stage | None = None
        self.note = ""
        """The line below the bar."""
        for stage in stages:
            self._add(stage)

    def show(self, step: Step, share: ShareCounts | None = None) -> None:
        """Show a step of one export, or of the share of a batch."""
        self._total.update(self._bar, completed=step.percent)
        if share is not None:
            self._total.update(self._bar, description=_counts(share))
            self.note = step.message
            return
        if step.stage is not self._current:
            self._enter(step.stage)
        self._stages.update(self._rows[step.stage], message=step.message)

    def complete(self) -> None:
        """Show that the current stage was the last one and succeeded."""
        if self._current is not None:
            self._complete(self._rows[self._current])

    def end(self) -> None:
        """Remove the bar, and show a stage that is not completed as failed."""
        for row in self._stages.tasks:
            if row.started and not row.finished:
                self._stages.stop_task(row.id)
        self._total.update(self._bar, visible=False)
        self.note = ""

    def __rich__(self) -> RenderableType:
        """Return what the terminal shows now."""
        parts: list[RenderableType] = [self._stages] if self._rows else []
        parts.append(self._total)
        if self.note:
            parts.append(Text(f"  {self.note}", style="dim", no_wrap=True, overflow="ellipsis"))
        return Group(*parts)

    def _add(self, stage: Stage) -> None:
        self._rows[stage] = self._stages.add_task(stage.value, start=False, message="", earlier=0.0)

    def _enter(self, stage: Stage) -> None:
        """Start a stage: those before it are complete, those after it are to come."""
        if stage not in self._rows:
            self._add(stage)
        for other, row in self._rows.items():
            started = self._stages.tasks[row].started
            if _ORDER.index(other) < _ORDER.index(stage):
                if started:
                    self._complete(row)
            elif started or other is stage:
                spent = _seconds(self._stages.tasks[row])
                self._stages.reset(row, start=other is stage, message="", earlier=spent)
        self._current = stage

    def _complete(self, row: TaskID) -> None:
        self._stages.update(row, completed=_ALL)


class _StageColumn(ProgressColumn):
    """The state of a stage as a mark, and its name."""

    def __init__(self, console: Console) -> None:
        super().__init__(Column(no_wrap=True, min_width=11))
        self._done, self._failed = marks(console)
        self._pending, self._running = (".", ">") if console.options.ascii_only else ("·", "•")

    def render(self, task: Task) -> Text:
        if not task.started:
            return Text(f"{self._pending} {task.description}", style="dim")
        if task.finished:
            return Text.assemble((self._done, "green"), f" {task.description}")
        if task.stop_time is not None:
            return Text.assemble((self._failed, "red"), f" {task.description}")
        return Text(f"{self._running} {task.description}", style="bold")


class _SecondsColumn(ProgressColumn):
    """The time that a stage or the run took; a stage in all attempts."""

    def render(self, task: Task) -> Text:
        return Text(f"{_seconds(task):.1f} s" if task.started else "", style="dim", justify="right")


def _seconds(task: Task) -> float:
    last = task.finished_time if task.finished else task.elapsed
    return float(task.fields["earlier"]) + (last or 0.0)


def _counts(share: ShareCounts) -> str:
    failed = f"{share.failed} failed"
    failed = f"[red]{failed}[/]" if share.failed else failed
    return f"{share.succeeded} verified, {failed} of {share.share_total}"
