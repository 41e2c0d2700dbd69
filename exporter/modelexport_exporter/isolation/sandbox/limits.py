"""Limits of a worker's resources, against files, descriptors and processes without end."""

from __future__ import annotations

import os
import resource
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

DESCRIPTORS = 65_536
MORE_TASKS = 4_096
"""Processes and threads above those that the user has."""
_SPARE_DISK = 1 << 30
"""Bytes of the disk that one file may not take, or a twentieth of what is free."""


@dataclass(frozen=True)
class Limits:
    """Limits of one process; None: as it is."""

    file_bytes: int
    tasks: int | None


def limits_for(free_bytes: int, own_tasks: int, *, in_pod: bool) -> Limits:
    """Return the limits.

    The kernel counts tasks by user, over all containers of a node: in a pod that number is
    unknown, and the kubelet's limit on pids holds.
    """
    spare = min(_SPARE_DISK, free_bytes // 20)
    return Limits(max(free_bytes - spare, 0), None if in_pod else own_tasks + MORE_TASKS)


def apply(limits: Limits) -> None:
    """Set the limits of this process; none is raised."""
    _lower(resource.RLIMIT_CORE, 0)
    _lower(resource.RLIMIT_NOFILE, DESCRIPTORS)
    _lower(resource.RLIMIT_FSIZE, limits.file_bytes)
    if limits.tasks is not None:
        _lower(resource.RLIMIT_NPROC, limits.tasks)


def _lower(kind: int, value: int) -> None:
    soft, hard = resource.getrlimit(kind)
    resource.setrlimit(kind, (_least(soft, value), _least(hard, value)))


def _least(present: int, value: int) -> int:
    return value if present == resource.RLIM_INFINITY else min(present, value)


def tasks_of_this_user() -> int:
    """Return how many processes and threads of this user are visible."""
    return sum(_threads(os.getuid()))


def _threads(user: int) -> Iterator[int]:
    for tasks in Path("/proc").glob("[0-9]*/task"):  # none where there is no /proc
        try:
            found = tasks.stat()
        except OSError:
            continue
        if found.st_uid == user:
            # A directory has a link of its own, one of its parent, and one of each below it.
            yield max(found.st_nlink - 2, 1)
