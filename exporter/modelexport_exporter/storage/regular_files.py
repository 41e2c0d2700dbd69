"""Files that workers wrote, opened by the supervisor: regular ones, and no link on the way.

User code runs in a worker as the same user, and may put a link, a named pipe or a device in place
of a file at any moment while it runs.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import stat
from collections.abc import Iterator
from pathlib import Path

from modelexport_exporter.storage.errors import artifact_changed
from modelexport_exporter.storage.store import OnBytes

_CHUNK = 4 * 1024 * 1024
_NO_LINKS = os.O_NOFOLLOW | os.O_CLOEXEC


@contextlib.contextmanager
def opened(path: Path) -> Iterator[int]:
    """Open a regular file for reading, in a directory that is no link. Raises ExportFailure."""
    try:
        above = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY | _NO_LINKS)
        try:
            # Without O_NONBLOCK, opening a named pipe would wait for a writer.
            descriptor = os.open(path.name, os.O_RDONLY | os.O_NONBLOCK | _NO_LINKS, dir_fd=above)
        finally:
            os.close(above)
    except (OSError, ValueError) as error:
        raise artifact_changed(path.name, f"it cannot be opened: {error}") from None
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise artifact_changed(path.name, "it is no regular file")
        yield descriptor
    finally:
        os.close(descriptor)


def copy_from(descriptor: int, target: Path, on_bytes: OnBytes = lambda _count: None) -> str:
    """Write what a descriptor reads to a new file; return the SHA-256 of it. Raises OSError."""
    digest = hashlib.sha256()
    with open(descriptor, "rb", closefd=False) as reader, target.open("xb") as writer:
        while chunk := reader.read(_CHUNK):
            writer.write(chunk)
            digest.update(chunk)
            on_bytes(len(chunk))
    return digest.hexdigest()


def digest_from(descriptor: int) -> str:
    """Return the SHA-256 of what a descriptor reads. Raises OSError."""
    with open(descriptor, "rb", closefd=False) as reader:
        return hashlib.file_digest(reader, "sha256").hexdigest()


def check_digest(name: str, found: str, expected: str | None) -> None:
    """Raise ExportFailure if bytes have another SHA-256 than expected; None: any is."""
    if expected is not None and found != expected:
        raise artifact_changed(name, f"SHA-256 {found}, {expected} expected")
