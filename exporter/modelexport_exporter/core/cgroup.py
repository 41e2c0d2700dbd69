"""The memory limit of this container, and whether the kernel killed a process for it.

A process that the kernel kills for memory leaves nothing but a signal; only the control group's
counters distinguish it from any other death. Version 1 and 2 of control groups are read.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

_NO_LIMIT = 2**62
"""Version 1 writes a number near 2**63 where there is no limit."""


@dataclass(frozen=True)
class Memory:
    """The memory counters of a control group; None if the kernel does not report them."""

    limit_bytes: int | None = None
    peak_bytes: int | None = None
    oom_kills: int = 0


def read_memory(root: Path = Path("/")) -> Memory:
    """Return the counters of this process's control group.

    A group's own counter includes its processes that the kernel killed because the machine ran out.
    Where it has none, all kills on the machine count, those of other containers included.
    """
    return _version_2(root) or _version_1(root) or Memory(oom_kills=_kills_on_machine(root))


def _version_1(root: Path) -> Memory | None:
    directory = _directory(root, "memory", root / "sys/fs/cgroup/memory")
    if directory is None or not (directory / "memory.limit_in_bytes").is_file():
        return None
    limit = _number(directory / "memory.limit_in_bytes")
    return Memory(
        limit_bytes=None if limit is None or limit >= _NO_LIMIT else limit,
        peak_bytes=_number(directory / "memory.max_usage_in_bytes"),
        oom_kills=_kills(directory / "memory.oom_control", root),
    )


def _version_2(root: Path) -> Memory | None:
    directory = _directory(root, "", root / "sys/fs/cgroup")
    if directory is None or not (directory / "memory.max").is_file():
        return None
    return Memory(
        limit_bytes=_number(directory / "memory.max"),
        peak_bytes=_number(directory / "memory.peak"),
        oom_kills=_kills(directory / "memory.events", root),
    )


def _directory(root: Path, controller: str, mount: Path) -> Path | None:
    """Return this process's directory; in a container the mount itself often is that directory."""
    try:
        lines = (root / "proc/self/cgroup").read_text().splitlines()
    except OSError:
        return None
    for line in lines:
        _, controllers, path = line.split(":", 2)
        if controller in controllers.split(","):
            inside = mount / path.lstrip("/")
            return inside if inside.is_dir() else mount
    return None


def _number(path: Path) -> int | None:
    try:
        text = path.read_text().strip()
    except OSError:
        return None
    return int(text) if text.isdigit() else None


def _kills(counters: Path, root: Path) -> int:
    own = _counter(counters, "oom_kill")
    return _kills_on_machine(root) if own is None else own


def _kills_on_machine(root: Path) -> int:
    return _counter(root / "proc/vmstat", "oom_kill") or 0


def _counter(path: Path, name: str) -> int | None:
    try:
        pairs = (line.split() for line in path.read_text().splitlines())
        return next((int(pair[1]) for pair in pairs if pair[:1] == [name]), None)
    except OSError:
        return None
