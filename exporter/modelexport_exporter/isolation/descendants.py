"""Finds and ends what workers leave behind: processes that fled to a session of their own.

A process whose parent ended becomes a child of the next subreaper above it: of the fork server, and
of the supervisor if user code ended that one. So whatever is below the fork server and below no
running worker was left behind. It is ended before anything is taken from its worker: it could
change files that are verified, and outlive the run.
"""

from __future__ import annotations

import contextlib
import os
import signal
import time
from collections.abc import Collection, Mapping
from pathlib import Path

_SECONDS = 10.0
_PAUSE_SECONDS = 0.002
_MOST_READS = 5
_EMPTY_READS = 2
"""One that begins while /proc is read is found by the next reading."""
_GONE = "ZX"
"""States of processes that run no more."""


def below(root: int, parents: Mapping[int, int], spared: Collection[int] = ()) -> set[int]:
    """Return the descendants of a process, without those that are spared and what is below them.

    `parents`: of all processes. Pure.
    """
    children: dict[int, list[int]] = {}
    for child, parent in parents.items():
        children.setdefault(parent, []).append(child)
    found: set[int] = set()
    left = [root]
    while left:
        own = {child for child in children.get(left.pop(), ()) if child not in spared} - found
        found |= own
        left += own
    return found


def parents_of_processes() -> dict[int, int]:
    """Return the parents of all processes that run; nothing where there is no /proc.

    /proc is read entry by entry. Where a parent ended meanwhile, its children have another one now
    and it is read again. Parents may be hidden for good (mount option hidepid).
    """
    found: dict[int, int] = {}
    for _ in range(_MOST_READS):
        found = {}
        with contextlib.suppress(OSError):
            for entry in os.scandir("/proc"):
                if entry.name.isdigit() and (parent := parent_of(int(entry.name))) is not None:
                    found[int(entry.name)] = parent
        if {*found.values()} <= {0, *found}:
            break
    return found


def parent_of(pid: int) -> int | None:
    """Return the parent of a process; None if it runs no more."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_bytes()
    except OSError:
        return None
    # The name of the program, in parentheses, may hold any byte.
    state, parent = stat[stat.rindex(b")") + 2 :].split()[:2]
    return None if state.decode() in _GONE else int(parent)


def is_running(pid: int) -> bool:
    """Return whether a process runs."""
    return parent_of(pid) is not None


def end_below(root: int, spared: Collection[int], seconds: float = _SECONDS) -> None:
    """End the descendants of a process that are below none of the spared ones.

    Raises ExportFailure if some are left after so many seconds.
    """
    deadline = time.monotonic() + seconds
    empty = 0
    while empty < _EMPTY_READS:
        left = below(root, parents_of_processes(), spared)
        empty = 0 if left else empty + 1
        if left and time.monotonic() > deadline:
            from modelexport_exporter.isolation.death import not_ended  # not needed to start

            raise not_ended(len(left))
        for pid in left:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        if left:
            time.sleep(_PAUSE_SECONDS)
            _reap(left)


def _reap(pids: Collection[int]) -> None:
    """Reap those that became children of this process."""
    for pid in pids:
        with contextlib.suppress(ChildProcessError):
            os.waitpid(pid, os.WNOHANG)
