"""What this process may use of the machine: the container's limits, not the node's size."""

from __future__ import annotations

import contextlib
import ctypes
import functools
import gc
import math
import os
import resource
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

CGROUP = Path("/sys/fs/cgroup")
_UNLIMITED = 1 << 60
_M_MMAP_THRESHOLD = -3
_LARGE_BLOCK_BYTES = 1 << 20


@dataclass
class _Sharing:
    """How many of our busy processes share the CPUs."""

    processes: int = 1


_sharing = _Sharing()


@contextlib.contextmanager
def sharing_cpus(processes: int) -> Iterator[None]:
    """Leave CPUs to our other processes that are busy while the block runs.

    Threads that wait for each other by spinning take what the others need: on two CPUs, a
    verification during an export takes four times as long with two threads, and twice with one.
    """
    before, _sharing.processes = _sharing.processes, processes
    try:
        yield
    finally:
        _sharing.processes = before


def cpu_count(cgroup: Path = CGROUP) -> int:
    """Return the CPUs that the scheduler, the cgroup's quota and our own sharing leave."""
    return _cpus_of(_cpu_quota(cgroup))


def thread_count() -> int:
    """Return how many threads may compute: one for each CPU, at most OMP_NUM_THREADS."""
    declared = os.environ.get("OMP_NUM_THREADS", "")
    return min(cpu_count(), int(declared) if declared.isdecimal() and int(declared) else 1 << 16)


def _cpus_of(quota: float | None) -> int:
    allowed = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    available = min(allowed or 1, math.ceil(quota) if quota else 1 << 16)
    return max(1, available // _sharing.processes)


def free_memory(cgroup: Path = CGROUP, meminfo: Path = Path("/proc/meminfo")) -> int:
    """Return the bytes that can be allocated before the machine or the cgroup's limit says no.

    Pages of files count as used in a cgroup but give way, so they are free.
    """
    free = _UNLIMITED
    for line in _lines(meminfo):
        if line.startswith("MemAvailable:"):
            free = int(line.split()[1]) * 1024
    for limit, used, reclaimable in (
        ("memory.max", "memory.current", "memory.stat"),
        ("memory/memory.limit_in_bytes", "memory/memory.usage_in_bytes", "memory/memory.stat"),
    ):
        cap, now = _number(cgroup / limit), _number(cgroup / used)
        if cap is not None and now is not None and cap < _UNLIMITED:
            free = min(free, cap - now + _file_pages(cgroup / reclaimable))
    return max(free, 0)


def peak_memory() -> int:
    """Return the largest resident size that this process has had, in bytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def busy_seconds() -> float:
    """Return a clock that stands still while other processes have the CPUs.

    It advances by the time in which this process would have done its work alone, on all its CPUs.
    """
    return time.process_time() / _cpus_of(_own_quota())


@functools.cache
def _own_quota() -> float | None:
    """Return the quota of this process, read once: samples ask the clock twice each."""
    return _cpu_quota(CGROUP)


def free_large_blocks_at_once() -> None:
    """Let glibc give every large block back when it is freed, for the rest of the process.

    By default it raises the threshold for this, up to 32 MiB, and keeps smaller blocks: a large
    sample of an encoder of BERT's size then took 255 MiB instead of 70.
    """
    with contextlib.suppress(OSError, AttributeError):  # other C libraries have no mallopt
        ctypes.CDLL("libc.so.6").mallopt(_M_MMAP_THRESHOLD, _LARGE_BLOCK_BYTES)


def free_unused() -> None:
    """Free what a checkpoint's work left: modules and graphs contain reference cycles."""
    gc.collect()
    release_memory()


def release_memory() -> None:
    """Return freed memory to the machine; glibc alone keeps hundreds of megabytes."""
    with contextlib.suppress(OSError, AttributeError):  # other C libraries have no malloc_trim
        ctypes.CDLL("libc.so.6").malloc_trim(0)


def _cpu_quota(cgroup: Path) -> float | None:
    words = (_lines(cgroup / "cpu.max") or [""])[0].split()
    if len(words) == 2 and words[0].isdigit():  # noqa: PLR2004
        return int(words[0]) / int(words[1])
    quota = _number(cgroup / "cpu/cpu.cfs_quota_us")
    period = _number(cgroup / "cpu/cpu.cfs_period_us")
    return quota / period if quota and period and quota > 0 else None


def _file_pages(stat: Path) -> int:
    fields = dict(line.split()[:2] for line in _lines(stat) if line.strip())
    names = ("inactive_file", "active_file")
    return sum(int(fields.get(f"total_{name}", fields.get(name, 0))) for name in names)


def _number(path: Path) -> int | None:
    text = (_lines(path) or [""])[0]
    try:
        return int(text)
    except ValueError:
        return None


def _lines(path: Path) -> list[str]:
    try:
        return path.read_text().splitlines()
    except OSError:
        return []
