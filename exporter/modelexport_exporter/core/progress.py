"""Progress of an export as one number that never decreases, reported at most once a second.

The operator patches the resource for every line of progress, and thousands of exports may run: a
line for each downloaded mebibyte would overload the API server.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from modelexport_api.status import Progress, Stage
from modelexport_exporter.core.log import Log
from modelexport_exporter.core.memory import MemoryWatch

SHARES: dict[Stage, int] = {
    Stage.FETCH: 20,
    Stage.LOAD: 5,
    Stage.CAPTURE: 20,
    Stage.CONVERT: 20,
    Stage.CONTRACT: 5,
    Stage.VERIFY: 20,
    Stage.PUBLISH: 10,
}
"""How much of the whole each stage is, in percent."""

INTERVAL_SECONDS = 1.0
_MESSAGE_LIMIT = 256


def overall_percent(stage: Stage, fraction: float) -> int:
    """Return how much of the whole export is done, 0 to 100."""
    before = 0
    for known, share in SHARES.items():
        if known is stage:
            return int(before + share * min(1.0, max(0.0, fraction)))
        before += share
    return before


class AbandonedError(Exception):
    """A transfer is to stop."""


class ProgressReporter:
    """Reports progress to a log: at once for a new stage, else at most once an interval."""

    def __init__(
        self, log: Log, memory: MemoryWatch, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._log = log
        self._memory = memory
        self._clock = clock
        self._lock = threading.Lock()
        self._percent = 0
        self._reported: Progress | None = None
        self._reported_at = 0.0
        self._abandoned = False

    def abandon(self) -> None:
        """Make the next report raise AbandonedError: the work is not needed any more."""
        self._abandoned = True

    @property
    def stage(self) -> Stage | None:
        """Return the stage that was reported last."""
        return self._reported.stage if self._reported else None

    def __call__(self, stage: Stage, fraction: float, message: str) -> None:
        """Report that a stage is at a fraction. Raises AbandonedError once it was abandoned."""
        if self._abandoned:
            raise AbandonedError
        with self._lock:
            self._percent = max(self._percent, overall_percent(stage, fraction))
            now = self._clock()
            new_stage = self._reported is None or self._reported.stage is not stage
            if not new_stage and now - self._reported_at < INTERVAL_SECONDS:
                return
            progress = Progress(
                stage=stage, percent=self._percent, message=message[:_MESSAGE_LIMIT]
            )
            if progress != self._reported:
                self._log.progress(progress, peakMemoryBytes=self._memory.peak_bytes)
            self._reported, self._reported_at = progress, now


class ByteCounter:
    """Reports transferred bytes as progress of a stage; called from any thread.

    It also stops a transfer that is not needed any more.
    """

    def __init__(
        self, report: Callable[[Stage, float, str], None], stage: Stage, total: int, verb: str
    ) -> None:
        self._report = report
        self._stage = stage
        self._total = total
        self._verb = verb
        self._lock = threading.Lock()
        self._moved = 0
        self._abandoned = False

    def abandon(self) -> None:
        """Make the transfer end at its next chunk."""
        self._abandoned = True

    def __call__(self, moved: int) -> None:
        """Count bytes that were moved."""
        if self._abandoned:
            raise AbandonedError
        with self._lock:
            self._moved += moved
            done = self._moved
        fraction = done / self._total if self._total else 1.0
        text = f"{self._verb} {done / 1e6:.1f} of {self._total / 1e6:.1f} MB"
        self._report(self._stage, fraction, text)
