"""What is mounted on this machine: the lines of /proc/self/mountinfo."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

_DEVICE, _ROOT, _POINT = 2, 3, 4
"""Fields in a line, before the dash; the type of the file system is behind it."""


@dataclass(frozen=True)
class Mount:
    """A mounted file system."""

    device: int
    """Its number, as in `st_dev`."""
    root: str
    """The directory or file of it that is mounted."""
    point: PurePosixPath
    kind: str
    """Such as tmpfs."""


def mount_info() -> str:
    """Return what is mounted here; nothing where the kernel is not Linux."""
    try:
        return Path("/proc/self/mountinfo").read_text()
    except OSError:
        return ""


def mounts_in(text: str) -> Iterator[Mount]:
    """Yield the mounts of the lines; what is no such line is left out."""
    for line in text.splitlines():
        before, _, after = line.partition(" - ")
        fields = before.split()
        major, _, minor = fields[_DEVICE].partition(":") if len(fields) > _POINT else ("", "", "")
        if major.isdecimal() and minor.isdecimal():
            point = PurePosixPath(fields[_POINT].replace("\\040", " "))
            kind = after.partition(" ")[0]
            yield Mount(os.makedev(int(major), int(minor)), fields[_ROOT], point, kind)
