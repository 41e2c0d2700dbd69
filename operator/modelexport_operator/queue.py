"""A work queue of keys: each is in it at most once, and processed by one worker at a time.

A key that failed is retried with exponential backoff; a key with a due time (a deadline, a pod to
check again) returns at that time. One heap serves both, so that ten thousand due times need
neither tasks nor timers. The time is a parameter, so that tests do not sleep.
"""

from __future__ import annotations

import asyncio
import heapq
from collections.abc import Callable

Clock = Callable[[], float]

FIRST_PAUSE = 0.5
LONGEST_PAUSE = 120.0
_SLACK = 64


class Schedule:
    """The due times of keys. The earliest due time of a key counts; nothing here waits."""

    def __init__(self) -> None:
        self._due: dict[str, float] = {}
        self._heap: list[tuple[float, int, str]] = []
        self._working: dict[str, float] = {}
        self._failures: dict[str, int] = {}
        self._count = 0

    def add(self, key: str, when: float) -> None:
        """Make the key due at `when`, unless it is due earlier."""
        if key in self._due and self._due[key] <= when:
            return
        self._due[key] = when
        self._push(key, when)

    def add_failed(self, key: str, now: float) -> float:
        """Make the key due after a pause that doubles with each failure; return the pause."""
        failures = self._failures.get(key, 0)
        self._failures[key] = failures + 1
        pause = min(LONGEST_PAUSE, FIRST_PAUSE * 2.0 ** min(failures, 16))
        self.add(key, now + pause)
        return pause

    def forget_failures(self, key: str) -> None:
        """Reset the backoff of a key."""
        self._failures.pop(key, None)

    def take(self, now: float) -> str | None:
        """Take the key that has been due for longest and is not in progress."""
        in_progress: list[tuple[float, int, str]] = []
        taken = None
        while taken is None and self._heap and self._heap[0][0] <= now:
            entry = heapq.heappop(self._heap)
            when, _, key = entry
            if self._due.get(key) != when:
                continue  # an outdated entry: the key was rescheduled
            if key in self._working:
                in_progress.append(entry)
                continue
            del self._due[key]
            self._working[key] = now
            taken = key
        for entry in in_progress:
            heapq.heappush(self._heap, entry)
        return taken

    def done(self, key: str) -> None:
        """Mark the key as no longer in progress."""
        self._working.pop(key, None)

    def next_due(self) -> float | None:
        """Return when the next key may be due, or None."""
        if not self._heap:
            return None
        when, _, key = self._heap[0]
        if key not in self._working:
            return when
        idle = (due for name, due in self._due.items() if name not in self._working)
        return min(idle, default=None)

    def depth(self, now: float) -> int:
        """Return the number of due keys."""
        return sum(when <= now for when in self._due.values())

    def oldest(self, now: float) -> float:
        """Return how long the oldest key has been due or in progress."""
        starts = [when for when in self._due.values() if when <= now]
        return max((now - start for start in [*starts, *self._working.values()]), default=0.0)

    def _push(self, key: str, when: float) -> None:
        self._count += 1
        heapq.heappush(self._heap, (when, self._count, key))
        if len(self._heap) > 2 * len(self._due) + _SLACK:
            live = [entry for entry in self._heap if self._due.get(entry[2]) == entry[0]]
            self._heap = live
            heapq.heapify(self._heap)


class WorkQueue:
    """A `Schedule` that workers can wait for."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._schedule = Schedule()
        self._changed = asyncio.Event()

    def add(self, key: str, after: float = 0.0) -> None:
        """Make the key due in `after` seconds, unless it is due earlier."""
        self._schedule.add(key, self._clock() + after)
        self._changed.set()

    def add_failed(self, key: str) -> float:
        """Schedule a retry of a key that failed; return the pause."""
        pause = self._schedule.add_failed(key, self._clock())
        self._changed.set()
        return pause

    def forget_failures(self, key: str) -> None:
        """Reset the backoff of a key."""
        self._schedule.forget_failures(key)

    async def take(self) -> str:
        """Wait for a key. Call `done` after processing it."""
        while True:
            key = self._schedule.take(self._clock())
            if key is not None:
                return key
            self._changed.clear()
            due = self._schedule.next_due()
            pause = None if due is None else max(0.0, due - self._clock())
            try:
                async with asyncio.timeout(pause):
                    await self._changed.wait()
            except TimeoutError:
                continue

    def done(self, key: str) -> None:
        """Mark the key as no longer in progress."""
        self._schedule.done(key)
        self._changed.set()

    def depth(self) -> int:
        """Return the number of due keys."""
        return self._schedule.depth(self._clock())

    def oldest(self) -> float:
        """Return for how many seconds the oldest key has been due or in progress."""
        return self._schedule.oldest(self._clock())
