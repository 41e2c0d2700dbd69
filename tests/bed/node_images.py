"""The images that a node has when it starts: unpacked once, and hard-linked into each run.

containerd takes a minute to import and unpack the exporter's dependencies. Its layers never change,
so runs share them; what a change of code adds is pulled from the bed's registry in seconds.
"""

from __future__ import annotations

import errno
import shutil
from pathlib import Path

from bed import containerd, images, places, processes, registry
from bed.processes import BedError
from bed.runs import Run

_LOCK = "containerd"


def current() -> bool:
    """Whether `prepare` has nothing left to do: the kept layers are those of this checkout."""
    marker = _marker()
    return marker.exists() and marker.read_text() == images.dependencies_digest()


def prepare() -> None:
    """Pull the images of this checkout into a containerd, and keep what it wrote."""
    with places.alone("node") as alone, places.locked(_LOCK), Run.open("images") as run:
        if not alone:
            raise BedError("a node is running on this machine, with the registry that this needs")
        served = registry.start(run)
        daemon = containerd.start(run)
        # The image with CUDA is built for a test of it, which needs no node.
        images.build("exporter")
        for image in (images.base_image(), images.build("operator"), images.build("exporter-cpu")):
            images.push(image, served)
            daemon.pull(image, served)
        run.stop()
        _marker().unlink(missing_ok=True)
        shutil.rmtree(_kept(), ignore_errors=True)
        try:
            containerd.root(run).rename(_kept())
        except OSError as error:
            if error.errno != errno.EXDEV:
                raise
            return  # A node on another file system pulls all layers.
        _marker().write_text(images.dependencies_digest())


def copy_to(root: Path) -> None:
    """Let a containerd that has not started yet begin with the kept images, if there are any."""
    with places.locked(_LOCK):
        if not _marker().exists():
            return
        try:
            processes.call(["cp", "--archive", "--link", _kept(), root])
        except processes.BedError:
            shutil.rmtree(root, ignore_errors=True)
            return
    # Layers are written once; a database is written in place, and needs a file of its own.
    for database in root.rglob("*.db"):
        copy = database.with_suffix(".copy")
        shutil.copy2(database, copy)
        copy.rename(database)


def _kept() -> Path:
    return places.cache() / "containerd"


def _marker() -> Path:
    return places.cache() / "containerd.digest"
