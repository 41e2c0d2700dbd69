"""The peak of anonymous memory of supervisor and workers together, sampled while they run.

Mapped checkpoint files are page cache, which the kernel takes back when it needs to; what counts
against a pod is anonymous memory. Samples are read from counters and cost microseconds.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path


@dataclass
class MemoryWatch:
    """Remembers the largest sum of anonymous bytes that was seen."""

    peak_bytes: int = 0
    _beside: frozenset[int] = frozenset()

    def look(self, worker: int | None) -> None:
        """Take a sample of this process, a worker's, and those beside it."""
        pids = {os.getpid(), *self._beside, *((worker,) if worker else ())}
        self.peak_bytes = max(self.peak_bytes, sum(map(anonymous_bytes, pids)))

    @contextlib.contextmanager
    def beside(self, pids: Collection[int]) -> Iterator[None]:
        """Add other processes to the samples of the block."""
        before, self._beside = self._beside, self._beside.union(pids)
        try:
            yield
        finally:
            self._beside = before

    def add_private(self, pid: int) -> None:
        """Add what another process holds for itself, which was there at the peak."""
        self.peak_bytes += private_bytes(pid)


def anonymous_bytes(pid: int) -> int:
    """Return a process's anonymous resident bytes, 0 when it has ended."""
    return _bytes_of(pid, "status", "RssAnon")


def private_bytes(pid: int) -> int:
    """Return the bytes that only this process holds, 0 when it has ended.

    The kernel walks all pages for it, which takes 10 ms.
    """
    return _bytes_of(pid, "smaps_rollup", "Private_Dirty")


def _bytes_of(pid: int, file: str, field: str) -> int:
    """Return a field of /proc/<pid>/<file>, which is in kB; 0 where there is none."""
    try:
        text = Path(f"/proc/{pid}/{file}").read_text()
    except OSError:
        return 0
    line = next((line for line in text.splitlines() if line.startswith(f"{field}:")), "")
    return int(line.split()[1]) * 1024 if line else 0
