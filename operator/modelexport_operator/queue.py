"""A work queue of keys: each at most once in it, none worked on twice at a time, none forgotten.

A key that fails comes back after ever longer pauses; a key with an appointment (a deadline, a pod
to look at again) comes back then. One heap serves both, so that ten thousand appointments cost
neither tasks nor timers. Time is a parameter: tests need not sleep.
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
    """When which key is due. The earliest appointment of a key wins; nothing here waits."""

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
        """Begin with the first pause again."""
        self._failures.pop(key, None)

    def take(self, now: float) -> str | None:
        """Return the key that is due for longest and nobody works on; it is being worked on now."""
        aside: list[tuple[float, int, str]] = []
        taken = None
        while taken is None and self._heap and self._heap[0][0] <= now:
            entry = heapq.heappop(self._heap)
            when, _, key = entry
            if self._due.get(key) != when:
                continue  # it was made due earlier meanwhile, and taken
            if key in self._working:
                aside.append(entry)
                continue
            del self._due[key]
            self._working[key] = now
            taken = key
        for entry in aside:
            heapq.heappush(self._heap, entry)
        return taken

    def done(self, key: str) -> None:
        """Let the key be taken again."""
        self._working.pop(key, None)

    def next_due(self) -> float | None:
        """Return when there may be something to take, or None."""
        if not self._heap:
            return None
        when, _, key = self._heap[0]
        if key not in self._working:
            return when
        idle = (due for name, due in self._due.items() if name not in self._working)
        return min(idle, default=None)

    def depth(self, now: float) -> int:
        """Return how many keys are due."""
        return sum(when <= now for when in self._due.values())

    def oldest(self, now: float) -> float:
        """Return for how long the most patient key waits for its work to begin or to end."""
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
        """Make a key that failed due again after its pause; return the pause."""
        pause = self._schedule.add_failed(key, self._clock())
        self._changed.set()
        return pause

    def forget_failures(self, key: str) -> None:
        """Begin with the first pause again."""
        self._schedule.forget_failures(key)

    async def take(self) -> str:
        """Wait for a key. It must be given back with `done`."""
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
        """Give the key back."""
        self._schedule.done(key)
        self._changed.set()

    def depth(self) -> int:
        """Return how many keys are due."""
        return self._schedule.depth(self._clock())

    def oldest(self) -> float:
        """Return for how many seconds the most patient key waits or is worked on."""
        return self._schedule.oldest(self._clock())
