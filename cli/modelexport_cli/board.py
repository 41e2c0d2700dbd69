"""What the terminal shows while an export runs: stages, their times, and what workers print. Pure.

A ladder of ways to ONNX goes back to an earlier stage with every way, so a stage is judged by where
the run is now: what lies before it is over, what lies after it is still to come.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from enum import Enum

from modelexport_api.status import Progress, Stage

SHOWN_LINES = 20
"""Of what a worker prints during one attempt. torch prints whole graphs when a trace fails."""
_ALL = 100
_ORDER = list(Stage)


class State(Enum):
    """How far a stage is."""

    TO_COME = "to come"
    RUNNING = "running"
    DONE = "done"
    SKIPPED = "skipped"
    FAILED = "failed"


@dataclass(frozen=True)
class Row:
    """A stage as it is shown."""

    stage: Stage
    state: State
    seconds: float | None
    message: str


@dataclass(frozen=True)
class Board:
    """The stages of one run."""

    stages: tuple[Stage, ...]
    current: Stage | None = None
    since: float = 0.0
    percent: int = 0
    over: bool = False
    spent: dict[Stage, float] = field(default_factory=dict)
    messages: dict[Stage, str] = field(default_factory=dict)

    def moved(self, progress: Progress, now: float) -> Board:
        """Return the board after a step of progress."""
        stage = progress.stage
        moved = self if stage is self.current else replace(self._left(now), since=now)
        return replace(
            moved,
            stages=tuple(sorted({*self.stages, stage}, key=_ORDER.index)),
            current=stage,
            percent=progress.percent,
            messages={**self.messages, stage: progress.message},
        )

    def goes_back(self, progress: Progress) -> bool:
        """Tell whether this step begins another way to ONNX."""
        return self.current is not None and _ORDER.index(progress.stage) < _ORDER.index(
            self.current
        )

    def ended(self, now: float) -> Board:
        """Return the board after the run."""
        return replace(self._left(now), over=True)

    def rows(self, now: float) -> list[Row]:
        """Return a row for each stage, in order."""
        return [self._row(stage, now) for stage in self.stages]

    def _left(self, now: float) -> Board:
        if self.current is None or self.over:
            return self
        spent = self.spent.get(self.current, 0.0) + now - self.since
        return replace(self, spent={**self.spent, self.current: spent})

    def _row(self, stage: Stage, now: float) -> Row:
        state = self._state(stage)
        seconds = self.spent.get(stage)
        if state is State.RUNNING:
            seconds = (seconds or 0.0) + now - self.since
        known = state not in {State.TO_COME, State.SKIPPED}
        return Row(
            stage, state, seconds if known else None, self.messages.get(stage, "") if known else ""
        )

    def _state(self, stage: Stage) -> State:
        if self.current is None or _ORDER.index(stage) > _ORDER.index(self.current):
            return State.TO_COME
        if stage is self.current:
            if not self.over:
                return State.RUNNING
            return State.DONE if self.percent == _ALL else State.FAILED
        return State.DONE if stage in self.messages else State.SKIPPED


class WorkerLines:
    """The last lines that a worker printed, until they are told."""

    def __init__(self, most: int = SHOWN_LINES) -> None:
        self._lines: deque[str] = deque(maxlen=most)
        self._heard = 0

    def hear(self, line: str) -> None:
        """Take in a line."""
        self._lines.append(line)
        self._heard += 1

    @property
    def last(self) -> str:
        """Return the newest line."""
        return self._lines[-1] if self._lines else ""

    def taken(self) -> Sequence[str]:
        """Return what is to be told, and forget it."""
        left_out = self._heard - len(self._lines)
        lines = [f"… {left_out} lines left out", *self._lines] if left_out else [*self._lines]
        self._lines.clear()
        self._heard = 0
        return lines
