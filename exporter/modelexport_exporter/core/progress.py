"""Progress of an export as one number that never decreases, reported at most once a second.

The operator patches the resource for every line of progress, and thousands of exports may run: a
line for each downloaded mebibyte would overload the API server.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

from modelexport_api.status import Progress, Stage
from modelexport_exporter.core.log import Log
from modelexport_exporter.core.memory import MemoryWatch
from modelexport_exporter.core.types import StageResult

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


_ALL = 100
_BEFORE_ATTEMPTS = SHARES[Stage.FETCH]
_AFTER_ATTEMPTS = _ALL - SHARES[Stage.PUBLISH]
_TAKEN = 2 / 3
"""How much of what is left before publishing an attempt takes that others may follow."""


@dataclass(frozen=True)
class Span:
    """The part of the whole export, in percent, that one attempt is."""

    start: float = _BEFORE_ATTEMPTS
    end: float = _AFTER_ATTEMPTS


def overall_percent(stage: Stage, fraction: float, attempt: Span = Span()) -> int:
    """Return how much of the whole export is done, 0 to 100, in an attempt of that span."""
    own = SHARES[stage] * min(1.0, max(0.0, fraction))
    done = sum(share for known, share in SHARES.items() if _ORDER[known] < _ORDER[stage]) + own
    if stage in {Stage.FETCH, Stage.PUBLISH}:
        return int(done)
    part = (done - _BEFORE_ATTEMPTS) / (_AFTER_ATTEMPTS - _BEFORE_ATTEMPTS)
    # A tenth of a thousandth, because 20 + 70 · 5/7 may be less than 70.
    return int(attempt.start + part * (attempt.end - attempt.start) + 1e-4)


_ORDER = {stage: place for place, stage in enumerate(SHARES)}


def span_of_attempt(reached: int, number: int, possible: int) -> Span:
    """Return the span of an attempt that begins at a percentage.

    The last one gets all that is left, the others leave a part to those that may follow.
    """
    start = max(reached, _BEFORE_ATTEMPTS)
    left = _AFTER_ATTEMPTS - start
    return Span(start, start + left * (1 if number >= possible else _TAKEN))


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
        self._span = Span()
        self._attempt: str | None = None

    def abandon(self) -> None:
        """Make the next report raise AbandonedError: the work is not needed any more."""
        self._abandoned = True

    @property
    def stage(self) -> Stage | None:
        """Return the stage that was reported last."""
        return self._reported.stage if self._reported else None

    def begin_attempt(self, number: int, possible: int, name: str) -> str:
        """Let the next reports be about this attempt, of so many; return what it is called."""
        with self._lock:
            self._span = span_of_attempt(self._percent, number, possible)
            self._attempt = f"attempt {number} of {possible}: {name}"
            return self._attempt

    def complete(self, message: str) -> None:
        """Report that the whole export succeeded, whatever was reported a moment ago."""
        last = self._reported
        if last is not None:
            self._send(last.model_copy(update={"percent": _ALL, "message": message}))

    def finish(self, stage: Stage, result: str, seconds: float) -> None:
        """Log what a stage found; `seconds`: how long it took."""
        self._log.log("info", f"{stage}: {result}", stage=stage, result=result, seconds=seconds)

    def __call__(self, stage: Stage, fraction: float, message: str) -> None:
        """Report that a stage is at a fraction. Raises AbandonedError once it was abandoned."""
        if self._abandoned:
            raise AbandonedError
        if isinstance(message, StageResult):
            self.finish(stage, message, message.seconds)
            return
        with self._lock:
            self._percent = max(self._percent, overall_percent(stage, fraction, self._span))
            new_stage = self._reported is None or self._reported.stage is not stage
            if not new_stage and self._clock() - self._reported_at < INTERVAL_SECONDS:
                return
            attempt = None if stage is Stage.FETCH else self._attempt
            progress = Progress(
                stage=stage,
                percent=self._percent,
                message=message[:_MESSAGE_LIMIT],
                attempt=attempt,
            )
            if progress != self._reported:
                self._send(progress)

    def _send(self, progress: Progress) -> None:
        self._log.progress(progress, peakMemoryBytes=self._memory.peak_bytes)
        self._reported, self._reported_at = progress, self._clock()


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
