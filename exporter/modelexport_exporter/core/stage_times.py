"""A log that keeps the times of stages, for a trace."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from modelexport_api.status import Progress
from modelexport_exporter.core.log import Level, Log

MOST = 2_000
"""Of a batch with thousands of checkpoints, the first ones."""


@dataclass(frozen=True)
class StageTime:
    """A stage or an attempt that ended; times are seconds since 1970."""

    stage: str
    start: float
    end: float
    failed: str = ""
    """The reason, if it is a failed attempt, which ended in this stage."""


class TimedLog:
    """Passes everything on to a log."""

    def __init__(self, log: Log, clock: Callable[[], float] = time.time) -> None:
        self._log = log
        self._clock = clock
        self._lock = threading.Lock()
        self._times: list[StageTime] = []

    @property
    def times(self) -> Sequence[StageTime]:
        """Return what was kept."""
        with self._lock:
            return tuple(self._times)

    def log(self, level: Level, message: str, **fields: Any) -> None:  # noqa: ANN401
        """Write a message; keep the time if it is about the end of a stage or an attempt."""
        self._log.log(level, message, **fields)
        stage, seconds = fields.get("stage"), fields.get("seconds")
        if stage is None or not isinstance(seconds, int | float):
            return
        end, failed = self._clock(), str(fields.get("failed", ""))
        with self._lock:
            if len(self._times) < MOST:
                self._times.append(StageTime(str(stage), end - seconds, end, failed))

    def progress(self, progress: Progress, **fields: Any) -> None:  # noqa: ANN401
        """Report progress."""
        self._log.progress(progress, **fields)
