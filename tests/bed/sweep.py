"""Remove everything that a run's record names, and what its node left in the kernel.

Works from the record and from /proc alone, so that it serves a healthy teardown and a predecessor
that was killed alike. Processes are ended by recorded id (with the start time, because ids are
reused) or because they live in the run's directory or cgroups; never by name.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

RECORD = "record.jsonl"

_CGROUPS = Path("/sys/fs/cgroup")
_POD_LOG_LINKS = Path("/var/log/containers")
_KUBELET = Path("/var/lib/kubelet")
_NETWORK_RESULTS = Path("/var/lib/cni/results")


def identity(pid: int) -> dict[str, int]:
    """A process, distinguishable from a later one with the same id."""
    return {"pid": pid, "started": _start_time(pid) or 0}


def alive(process: dict[str, int]) -> bool:
    return _start_time(process["pid"]) == process["started"] != 0


def owner_alive(directory: Path) -> bool:
    owners = _recorded(directory, "owner")
    return bool(owners) and alive(owners[0])


def sweep(directory: Path) -> None:
    """Remove the run in DIRECTORY: processes, mounts, links, tables, cgroups, files. Idempotent."""
    cgroups = [path for name in _recorded(directory, "cgroup") for path in _cgroup(name)]
    _kill(directory, cgroups)
    for mount in mounts_under(directory, Path("/proc/self/mountinfo").read_text()):
        _quietly("umount", "--lazy", mount)
    for table in _recorded(directory, "table"):
        _quietly("nft", "delete", "table", *table.split())
    for link in _recorded(directory, "link"):
        _quietly("ip", "link", "delete", link)
    for cgroup in cgroups:
        _remove_directories(cgroup)
    for name, value in _recorded(directory, "sysctl"):
        with contextlib.suppress(OSError):
            Path("/proc/sys", name).write_text(value)
    _remove_strays(directory)
    for path in _recorded(directory, "absent"):
        _remove_directories(Path(path))
    shutil.rmtree(directory, ignore_errors=True)


def mounts_under(directory: Path, mountinfo: str) -> list[str]:
    """Mount points below DIRECTORY, innermost first."""
    points = [line.split()[4] for line in mountinfo.splitlines()]
    below = [point for point in points if point.startswith(f"{directory}/")]
    return list(reversed(below))


def _recorded(directory: Path, kind: str) -> list[Any]:
    """The values recorded under KIND; a line cut short by a crash is skipped."""
    values = []
    with contextlib.suppress(FileNotFoundError):
        for line in (directory / RECORD).read_text().splitlines():
            with contextlib.suppress(json.JSONDecodeError):
                entry = json.loads(line)
                values += [entry[kind]] if kind in entry else []
    return values


def _kill(directory: Path, cgroups: Iterable[Path]) -> None:
    """Kill what belongs to the run until nothing is left of it."""
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        recorded = [p["pid"] for p in _recorded(directory, "process") if alive(p)]
        left = {*recorded, *_working_in(directory), *_members(cgroups)} - {os.getpid()}
        if not left:
            return
        for pid in left:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(0.1)


def _working_in(directory: Path) -> Iterable[int]:
    """Processes whose working directory is below DIRECTORY, as a containerd shim's is."""
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if (process / "cwd").readlink().is_relative_to(directory) and not _zombie(process):
                yield int(process.name)


def _members(cgroups: Iterable[Path]) -> Iterable[int]:
    for cgroup in cgroups:
        for members in cgroup.rglob("cgroup.procs"):
            with contextlib.suppress(OSError):
                yield from map(int, members.read_text().split())


def _cgroup(name: str) -> list[Path]:
    """The cgroup NAME in each hierarchy, be it one per controller (v1) or the unified one."""
    return [path for path in [_CGROUPS / name, *_CGROUPS.glob(f"*/{name}")] if path.is_dir()]


def _remove_strays(directory: Path) -> None:
    """Remove what containerd, the network plugins and the kubelet put at paths of their own."""
    strays = [
        path
        for path in _POD_LOG_LINKS.glob("*")
        if path.is_symlink() and _points_into(path, directory)
    ]
    strays += [path for path in _NETWORK_RESULTS.glob("*") if str(directory) in path.read_text()]
    for address in directory.glob("containerd/state/io.containerd.runtime.v2.task/*/*/address"):
        strays.append(Path(address.read_text().removeprefix("unix://")))
    if str(_KUBELET) in _recorded(directory, "absent"):
        strays += [path for path in _KUBELET.rglob("*") if not path.is_dir()]
    for path in strays:
        path.unlink(missing_ok=True)


def _remove_directories(directory: Path) -> None:
    """Remove DIRECTORY and the directories below it, as far as they hold no file."""
    below = sorted((path for path in directory.rglob("*") if path.is_dir()), reverse=True)
    for path in [*below, directory]:
        with contextlib.suppress(OSError):
            path.rmdir()


def _points_into(link: Path, directory: Path) -> bool:
    return link.readlink().is_relative_to(directory)


def _stat(pid: int | str) -> list[str]:
    """The fields of /proc/PID/stat after the command, which may itself hold spaces."""
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()


def _start_time(pid: int) -> int | None:
    try:
        fields = _stat(pid)
    except (FileNotFoundError, ProcessLookupError):
        return None
    return None if fields[0] == "Z" else int(fields[19])


def _zombie(process: Path) -> bool:
    return _stat(process.name)[0] == "Z"


def _quietly(*command: str) -> None:
    """Run COMMAND; what it would remove may be gone already."""
    with contextlib.suppress(FileNotFoundError):
        subprocess.run(command, capture_output=True, check=False)
