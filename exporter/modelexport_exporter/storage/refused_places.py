"""Places of this machine whose files no URI may name: what no disk holds, and credentials.

The supervisor copies what a manifest names to where the model's code reads it, and follows links.
So `file:///proc/self/environ`, or a link to `~/.aws/credentials` in cloned code, would give to that
code what its sandbox hides from it. What counts is where a file is, not the way to it.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from modelexport_exporter.core import place
from modelexport_exporter.core.mounts import mount_info, mounts_in
from modelexport_exporter.core.secret_places import secret_places

Identity = tuple[int, int]
"""Device and inode: the same by whatever name."""

KERNEL_TYPES = frozenset(
    (
        *("proc", "sysfs", "devtmpfs", "devpts", "cgroup", "cgroup2", "mqueue", "hugetlbfs"),
        *("debugfs", "tracefs", "securityfs", "configfs", "bpf", "pstore", "efivarfs", "nsfs"),
        *("binfmt_misc", "fusectl", "rpc_pipefs", "selinuxfs"),
    )
)
_IN_MEMORY = frozenset({"tmpfs", "ramfs"})
_DEV = PurePosixPath("/dev")
_SHARED = _DEV / "shm"
_KINDS = {
    stat.S_IFIFO: "a named pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
}


class RefusedPlaceError(OSError):
    """What a path leads to is no file that may be named."""

    def __init__(self, found: str, hint: str) -> None:
        super().__init__(errno.EACCES, found)
        self.hint = hint


@dataclass(frozen=True)
class RefusedPlaces:
    """What is refused on this machine."""

    devices: Mapping[int, str] = field(default_factory=dict)
    """Mount points by the numbers of their file systems."""
    directories: Mapping[Identity, str] = field(default_factory=dict)
    """Paths of directories, and of single files."""

    def check(self, found: os.stat_result, above: Iterable[os.stat_result] = ()) -> None:
        """Raise RefusedPlaceError for a file or directory; `above`: the directories it is in."""
        if kind := _KINDS.get(stat.S_IFMT(found.st_mode)):
            raise RefusedPlaceError(
                f"it is {kind}, not a file", "Write its content to a file, and name that."
            )
        if point := self.devices.get(found.st_dev):
            raise RefusedPlaceError(
                f"{point} has no stored files, but what the kernel and its processes show",
                "Copy it to a disk, and name the copy.",
            )
        for one in (found, *above):
            if path := self.directories.get((one.st_dev, one.st_ino)):
                raise RefusedPlaceError(
                    f"it is in {path}, where credentials are",
                    "Copy it to another directory, if the model's code may have it.",
                )


def on_this_machine() -> RefusedPlaces:
    """Return what is refused here, now."""
    directories = {}
    for path in secret_places():
        try:
            found = path.stat()
        except OSError:
            continue
        directories[found.st_dev, found.st_ino] = str(path)
    return RefusedPlaces(
        devices_of(mount_info(), shared_memory=not place.in_pod()) | _dev(), directories
    )


def _dev() -> dict[int, str]:
    """Return the file system of /dev where that is one of its own, on any kernel."""
    try:
        own, root = Path(_DEV).stat().st_dev, Path("/").stat().st_dev
    except OSError:
        return {}
    return {own: str(_DEV)} if own != root else {}


def devices_of(mounts: str, *, shared_memory: bool) -> dict[int, str]:
    """Return mount points whose files are refused, by their file systems' numbers.

    `shared_memory`: whether /dev/shm has files as any other directory: on a workstation these are
    its user's, in a pod those of its processes.
    """
    found: dict[int, str] = {}
    for mount in mounts_in(mounts):
        memory = mount.kind in _IN_MEMORY and (mount.point == _DEV or _DEV in mount.point.parents)
        if mount.kind in KERNEL_TYPES or (
            memory and not (shared_memory and mount.point == _SHARED)
        ):
            found.setdefault(mount.device, str(mount.point))
    return found
