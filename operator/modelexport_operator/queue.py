"""A work queue of keys: each is in it at most once, and processed by one worker at a time.

A key that failed is retried with exponential backoff; a key with a due time (a deadline, a pod to
check again) returns at that time. One heap serves both, so that ten thousand due times need
neither tasks nor timers. Due keys are taken in turns of their groups, which are namespaces: a
thousand new exports in one namespace do not delay the one in another. The time is a parameter, so
that tests do not sleep.
"""

from __future__ import annotations

import asyncio
import heapq
from collections import OrderedDict
from collections.abc import Callable

Clock = Callable[[], float]
GroupOf = Callable[[str], str]

FIRST_PAUSE = 0.5
LONGEST_PAUSE = 120.0
_SLACK = 64


def _no_group(_key: str) -> str:
    return ""


class Turns:
    """Due keys, taken in turns of their groups; within a group in the order of their due times."""

    def __init__(self) -> None:
        self._groups: OrderedDict[str, OrderedDict[str, None]] = OrderedDict()

    def add(self, group: str, key: str) -> None:
        """Append a key to its group."""
        self._groups.setdefault(group, OrderedDict())[key] = None

    def take(self) -> str | None:
        """Take the first key of the group whose turn it is."""
        if not self._groups:
            return None
        group, keys = self._groups.popitem(last=False)
        key, _ = keys.popitem(last=False)
        if keys:
            self._groups[group] = keys
        return key

    def __bool__(self) -> bool:
        """Return whether there is a key."""
        return bool(self._groups)


class Schedule:
    """The due times of keys. The earliest due time of a key counts; nothing here waits."""

    def __init__(self, group_of: GroupOf = _no_group) -> None:
        self._group_of = group_of
        self._due: dict[str, float] = {}
        self._heap: list[tuple[float, int, str]] = []
        self._ready = Turns()
        self._held: set[str] = set()
        """Keys that became due while they were in progress."""
        self._promoted: set[str] = set()
        """Keys that are in `_ready` or `_held`, no longer in the heap."""
        self._working: dict[str, float] = {}
        self._failures: dict[str, int] = {}
        self._count = 0
        self._finished: float | None = None

    def add(self, key: str, when: float) -> None:
        """Make the key due at `when`, unless it is due earlier."""
        if key in self._due and self._due[key] <= when:
            return
        self._due[key] = when
        if key not in self._promoted:
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

    def failures(self, key: str) -> int:
        """Return how often the key has failed in a row."""
        return self._failures.get(key, 0)

    def take(self, now: float) -> str | None:
        """Take a key that is due and not in progress, from the group whose turn it is."""
        self._promote(now)
        key = self._ready.take()
        if key is not None:
            self._promoted.discard(key)
            del self._due[key]
            self._working[key] = now
        return key

    def done(self, key: str, now: float) -> None:
        """Mark the key as no longer in progress."""
        self._working.pop(key, None)
        self._finished = now
        if key in self._held:
            self._held.discard(key)
            self._ready.add(self._group_of(key), key)

    def next_due(self) -> float | None:
        """Return when the next key may be due, or None."""
        if self._ready:
            return 0.0
        return self._heap[0][0] if self._heap else None

    def retrying(self) -> int:
        """Return the number of keys whose last attempt failed."""
        return len(self._failures)

    def depth(self, now: float) -> int:
        """Return the number of due keys."""
        return sum(when <= now for when in self._due.values())

    def has_backlog(self, now: float) -> bool:
        """Return whether a key is due that no worker has taken. Does not look at each key."""
        due = self.next_due()
        return due is not None and due <= now

    def oldest(self, now: float) -> float:
        """Return how long the oldest key has been due or in progress."""
        return max((now - start for start in self._starts(now)), default=0.0)

    def stalled(self, now: float) -> float:
        """Return for how long something was due and nothing has finished.

        A long queue is no stall, and a failed attempt is a finished one: restarting the process
        helps only if workers hang.
        """
        oldest = self.oldest(now)
        return oldest if self._finished is None else min(oldest, now - self._finished)

    def _starts(self, now: float) -> list[float]:
        return [*(when for when in self._due.values() if when <= now), *self._working.values()]

    def _promote(self, now: float) -> None:
        while self._heap and self._heap[0][0] <= now:
            when, _, key = heapq.heappop(self._heap)
            if key in self._promoted or self._due.get(key) != when:
                continue  # an outdated entry: the key was rescheduled
            self._promoted.add(key)
            if key in self._working:
                self._held.add(key)
            else:
                self._ready.add(self._group_of(key), key)

    def _push(self, key: str, when: float) -> None:
        self._count += 1
        heapq.heappush(self._heap, (when, self._count, key))
        if len(self._heap) > 2 * len(self._due) + _SLACK:
            live = [
                entry
                for entry in self._heap
                if entry[2] not in self._promoted and self._due.get(entry[2]) == entry[0]
            ]
            self._heap = live
            heapq.heapify(self._heap)


class WorkQueue:
    """A `Schedule` that workers can wait for."""

    def __init__(self, clock: Clock, group_of: GroupOf = _no_group) -> None:
        self._clock = clock
        self._schedule = Schedule(group_of)
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

    def failures(self, key: str) -> int:
        """Return how often a key has failed in a row."""
        return self._schedule.failures(key)

    async def take(self) -> str:
        """Wait for a key. Call `done` after processing it.

        The other tasks run first: ten thousand keys with nothing to do, as after a start, must not
        hold up the answers to probes, or the Lease.
        """
        await asyncio.sleep(0)
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
        self._schedule.done(key, self._clock())
        self._changed.set()

    def retrying(self) -> int:
        """Return the number of keys whose last attempt failed."""
        return self._schedule.retrying()

    def depth(self) -> int:
        """Return the number of due keys."""
        return self._schedule.depth(self._clock())

    def has_backlog(self) -> bool:
        """Return whether a key is due that no worker has taken."""
        return self._schedule.has_backlog(self._clock())

    def oldest(self) -> float:
        """Return for how many seconds the oldest key has been due or in progress."""
        return self._schedule.oldest(self._clock())

    def stalled(self) -> float:
        """Return for how many seconds something was due and nothing has finished."""
        return self._schedule.stalled(self._clock())
