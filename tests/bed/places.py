"""Where the test bed keeps what it built, and where a running bed lives.

Two trees, both outside the repository: the cache survives (binaries by version, images by digest),
a run directory belongs to one running bed and is removed with it.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


def cache() -> Path:
    """The root of everything that outlives a test run."""
    if chosen := os.environ.get("MODELEXPORT_TESTBED"):
        return Path(chosen)
    home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(home) / "modelexport-testbed"


def repository() -> Path:
    """The checkout whose tests are running."""
    return Path(__file__).resolve().parents[2]


def free_bytes(directory: Path | None = None) -> int:
    """The disk that is free where DIRECTORY (by default the cache) is or will be."""
    path = directory or cache()
    while not path.exists():
        path = path.parent
    return shutil.disk_usage(path).free


@contextmanager
def locked(name: str) -> Iterator[None]:
    """Hold the cache's lock NAME; a second process waits, and a dead one never blocks."""
    path = cache() / "locks" / f"{name}.lock"
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w") as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield


@contextmanager
def alone(name: str) -> Iterator[bool]:
    """Like `locked`, but a second process gets False instead of waiting."""
    path = cache() / "locks" / f"{name}.lock"
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w") as handle:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            yield False
        else:
            yield True


@contextmanager
def appearing(target: Path) -> Iterator[Path]:
    """Yield an empty directory that becomes TARGET in one rename, or nothing at all on failure."""
    target.parent.mkdir(parents=True, exist_ok=True)
    unfinished = Path(tempfile.mkdtemp(prefix=f".{target.name}-", dir=target.parent))
    try:
        yield unfinished
        unfinished.chmod(0o755)
        unfinished.rename(target)
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)
