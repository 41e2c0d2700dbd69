"""The images: the Dockerfile's targets as OCI layouts, with the same digests for the same inputs.

buildah gives each file in a layer the time of the commit. It starts with an empty storage, so that
nothing of an earlier build, nor of the machine, has a part in it.
"""

from __future__ import annotations

import contextlib
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from release import layouts
from release.base import Base
from release.errors import ReleaseError
from release.source import Source

TARGETS = ("operator", "exporter-cpu", "exporter")
VALUES = {
    "operator": ("operator", "image"),
    "exporter-cpu": ("exporter", "cpuImage"),
    "exporter": ("exporter", "image"),
}
"""Where the chart's values have the digest of each."""
DISK_GIB = {"operator": 3, "exporter-cpu": 12, "exporter": 30}
"""What a build takes at its peak: buildah's layers, and two copies of the one in the making."""
_GIB = 1024**3
_SAID = 20
"""How many lines of a failed command are shown."""


@dataclass(frozen=True)
class Buildah:
    """buildah with a storage of its own."""

    storage: Path

    def __call__(self, command: str, *words: str | Path) -> str:
        places = ["--root", str(self.storage / "root"), "--runroot", str(self.storage / "run")]
        call = ["buildah", *places, command, *map(str, words)]
        done = subprocess.run(call, capture_output=True, text=True, check=False)
        if done.returncode:
            said = "\n".join((done.stdout + done.stderr).splitlines()[-_SAID:])
            raise ReleaseError("ImageNotBuilt", f"buildah {command}: {said}")
        return done.stdout.strip()


def version() -> str:
    """The version of buildah; an error where there is none."""
    if not shutil.which("buildah"):
        raise ReleaseError(
            "BuildahMissing", "images are built by buildah; install it, or leave images out"
        )
    done = subprocess.run(["buildah", "--version"], capture_output=True, text=True, check=True)
    return done.stdout.split()[2]


def build(
    source: Source, base: Base, targets: Sequence[str], storage: Path, dist: Path
) -> dict[str, str]:
    """Write the layout of each of TARGETS to DIST/oci; return their digests."""
    buildah = Buildah(storage)
    (dist / "oci").mkdir(exist_ok=True)
    try:
        _pull(buildah, base)
        for target in targets:
            image = f"localhost/modelexport-{target}:{source.version}"
            buildah("build", *build_words(source, base, target, image))
            layout = f"oci:{dist / 'oci' / target}:{source.version}"
            buildah("push", "--quiet", "--format", "oci", image, layout)
            buildah("rmi", image)
    finally:
        # What a killed buildah left mounted could not be removed.
        with contextlib.suppress(ReleaseError):
            buildah("rm", "--all")
    return {target: layouts.digest(dist / "oci" / target) for target in targets}


def check_disk(targets: Sequence[str], free: int, place: Path) -> None:
    """Raise unless FREE bytes in PLACE are enough for each of TARGETS."""
    for target in targets:
        if free < DISK_GIB[target] * _GIB:
            raise ReleaseError(
                "DiskTooSmall",
                f"{place} has {free / _GIB:.1f} GiB free, the build of {target} needs "
                f"{DISK_GIB[target]}. Set TMPDIR to a larger disk, or choose other IMAGES.",
            )


def build_words(source: Source, base: Base, target: str, image: str) -> list[str]:
    """How buildah is asked for TARGET: nothing of it depends on the machine, but the paths."""
    said = [f"--annotation={name}={value}" for name, value in about(source, base, target).items()]
    return [
        *("--layers", "--force-rm", "--isolation", "chroot", "--format", "oci", "--pull-never"),
        # Its label has the version of buildah, which the provenance names anyway.
        *("--identity-label=false", "--timestamp", str(source.epoch)),
        *("--build-arg", f"BASE={base.name}", "--target", target, *said, "--tag", image),
        *("--file", str(source.root / "Dockerfile"), str(source.root)),
    ]


def about(source: Source, base: Base, target: str) -> dict[str, str]:
    """What the image says about itself."""
    created = datetime.fromtimestamp(source.epoch, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    return {
        "org.opencontainers.image.base.digest": base.digest,
        "org.opencontainers.image.created": created,
        "org.opencontainers.image.licenses": "Apache-2.0",
        "org.opencontainers.image.revision": source.commit,
        "org.opencontainers.image.title": f"modelexport-{target}",
        "org.opencontainers.image.version": source.version,
    }


def values(digests: Mapping[str, str]) -> dict[str, Any]:
    """Values of the chart that select images by DIGESTS."""
    found: dict[str, Any] = {}
    for target in sorted(digests):
        component, image = VALUES[target]
        found.setdefault(component, {})[image] = {"digest": digests[target]}
    return found


def _pull(buildah: Buildah, base: Base) -> None:
    """Bring the base, under one name wherever it comes from: the history of images has it."""
    image = buildah("pull", "--quiet", base.source)
    buildah("tag", image, base.name)
    rows = buildah("images", "--noheading", "--format", "{{.Name}}:{{.Tag}}").splitlines()
    for other in set(rows) - {base.name, "<none>:<none>"}:
        buildah("rmi", other)
