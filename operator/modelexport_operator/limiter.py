"""A token bucket: limits the rate and the burst of requests, first come first served."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping

_TOO_MANY, _UNAVAILABLE = 429, 503
_LONGEST_HOLD = 30.0


def asked_pause(status: int, headers: Mapping[str, str]) -> float:
    """Return for how many seconds a busy API server wants no requests."""
    asked = headers.get("Retry-After", "") if status in {_TOO_MANY, _UNAVAILABLE} else ""
    return min(_LONGEST_HOLD, float(asked)) if asked.isdecimal() else 0.0


class Limiter:
    """Allows `qps` requests per second, and bursts of `burst` requests after a pause."""

    def __init__(self, qps: float, burst: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._interval = 1 / qps
        self._burst = burst
        self._clock = clock
        self._next = clock() - burst * self._interval

    def reserve(self) -> float:
        """Take a token and return the seconds to wait for it."""
        now = self._clock()
        earliest = now - (self._burst - 1) * self._interval
        self._next = max(self._next + self._interval, earliest)
        return max(0.0, self._next - now)

    def hold(self, seconds: float) -> None:
        """Give no token for so long."""
        if seconds > 0:
            self._next = max(self._next, self._clock() + seconds)

    @property
    def is_empty(self) -> bool:
        """Return whether a request would have to wait."""
        return self._next + self._interval > self._clock()

    def try_take(self) -> bool:
        """Take a token if there is one now; return whether there was."""
        free = not self.is_empty
        if free:
            self.reserve()
        return free

    async def wait(self) -> None:
        """Wait for a token."""
        pause = self.reserve()
        if pause > 0:
            await asyncio.sleep(pause)
