"""Whether a level of the bed can start here, and if not, why and what to do.

Each check answers with a sentence for a person, or None. Nothing here changes anything.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from bed import debian, golang, places, runs
from bed.golang import GoPart

Level = Literal["s3", "helm", "gitops", "browser", "shells", "prometheus", "control-plane", "node"]

LEVELS: tuple[Level, ...] = (
    *("s3", "helm", "gitops", "browser", "shells", "prometheus", "control-plane", "node"),
)

GET_IT = "run `make testbed`"

_GIB = 1024**3
NODE_DISK = 12 * _GIB
"""Both images in containerd: what was imported, and unpacked."""

IMAGE_DISK = {"operator": 3 * _GIB, "exporter": 25 * _GIB, "exporter-cpu": 8 * _GIB}
"""What a build takes at its peak: buildah's layers, the archive, and the archive in the making."""

_PARTS: dict[Level, tuple[GoPart, ...]] = {
    "s3": (golang.VERSITYGW,),
    "helm": (golang.HELM,),
    "gitops": (golang.GITOPS,),
    "browser": (),
    "shells": (),
    "prometheus": (),
    "control-plane": golang.CONTROL_PLANE_PARTS,
    "node": golang.NODE_PARTS,
}


_PACKAGES: dict[Level, Mapping[str, str]] = {
    "browser": debian.BROWSER,
    "shells": debian.SHELLS,
    "prometheus": debian.PROMETHEUS,
    "node": debian.PACKAGES,
}


@dataclass(frozen=True)
class Machine:
    """What the checks look at."""

    user: int
    missing_packages: tuple[str, ...]
    missing_parts: tuple[str, ...]
    free_disk: int
    other_bed: Path | None


def look(level: Level) -> Machine:
    """Read this machine for LEVEL."""
    parts = [part for part in _PARTS[level] if part.missing]
    node = level == "node"
    living = runs.living("node") if node else []
    return Machine(
        user=os.geteuid(),
        missing_packages=tuple(debian.missing(_PACKAGES.get(level, {}))),
        missing_parts=tuple(f"{part.name} {part.version}" for part in parts),
        free_disk=places.free_bytes(runs.parent_directory()),
        other_bed=living[0] if living else None,
    )


def obstacles(level: Level, machine: Machine) -> list[str]:
    """Every reason why LEVEL cannot start on MACHINE."""
    checks: Iterable[Callable[[Machine], str | None]] = [_parts]
    if level in {"browser", "shells", "prometheus"}:
        checks = [_packages]
    if level == "node":
        checks = [_root, _packages, _parts, _disk, _alone]
    return [reason for check in checks if (reason := check(machine))]


def image_obstacles(target: str, built: bool, free_disk: int) -> list[str]:
    """Every reason why the image of TARGET cannot be built with FREE_DISK bytes of disk."""
    needed = IMAGE_DISK[target]
    if built or free_disk >= needed:
        return []
    have, need = free_disk / _GIB, needed / _GIB
    return [f"{have:.1f} GiB of disk free in {places.cache()}, the build needs {need:.0f} GiB"]


def go_missing() -> str | None:
    """Why Go parts cannot be built here."""
    return None if shutil.which("go") else "no `go` on PATH: install Go 1.26 or later"


def _root(machine: Machine) -> str | None:
    return "a node needs root (mounts, network links, cgroups)" if machine.user else None


def _packages(machine: Machine) -> str | None:
    if not machine.missing_packages:
        return None
    return f"missing Debian packages: {' '.join(machine.missing_packages)}; {GET_IT}"


def _parts(machine: Machine) -> str | None:
    if not machine.missing_parts:
        return None
    return f"not built: {', '.join(machine.missing_parts)}; {GET_IT}"


def _disk(machine: Machine) -> str | None:
    if machine.free_disk >= NODE_DISK:
        return None
    have, need = machine.free_disk / _GIB, NODE_DISK / _GIB
    return f"{have:.1f} GiB of disk free in {runs.parent_directory()}, a node needs {need:.0f} GiB"


def _alone(machine: Machine) -> str | None:
    if machine.other_bed is None:
        return None
    return f"another node is running in {machine.other_bed}; wait for it or stop it"
