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
from datetime import UTC, datetime
from pathlib import Path
from typing import IO

from modelexport_exporter.core.stored_object import StoredObject
from modelexport_exporter.storage.errors import artifact_changed
from modelexport_exporter.storage.store import OnBytes

_OWN_NAMES = 2
"""Of a linked file: where it was made, and its second one."""
_CHUNK = 4 * 1024 * 1024
_NO_LINKS = os.O_NOFOLLOW | os.O_CLOEXEC


@contextlib.contextmanager
def opened(path: Path) -> Iterator[int]:
    """Open a regular file for reading, in a directory that is no link. Raises ExportFailure."""
    try:
        with _directory(path.parent) as above:
            # Without O_NONBLOCK, opening a named pipe would wait for a writer.
            descriptor = os.open(path.name, os.O_RDONLY | os.O_NONBLOCK | _NO_LINKS, dir_fd=above)
    except (OSError, ValueError) as error:
        raise artifact_changed(path.name, f"it cannot be opened: {error}") from None
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise artifact_changed(path.name, "it is no regular file")
        yield descriptor
    finally:
        os.close(descriptor)


@contextlib.contextmanager
def _directory(path: Path) -> Iterator[int]:
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | _NO_LINKS)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def link(source: Path, target: Path, on_bytes: OnBytes = lambda _count: None) -> str | None:
    """Give a file a second name; return its SHA-256, or None where it has to be copied.

    That is on another file system, and where it has further names, by which it can be changed.
    Only where no process is left that may have it open. Raises ExportFailure.
    """
    try:
        with _directory(source.parent) as above:
            os.link(source.name, target, src_dir_fd=above, follow_symlinks=False)
    except OSError:
        return None
    with opened(target) as descriptor:
        found = os.fstat(descriptor)
        if found.st_nlink == _OWN_NAMES:
            on_bytes(found.st_size)
            return digest_from(descriptor)
    target.unlink()
    return None


def place(source: Path, target: Path) -> str:
    """Copy a file to the place of one that a worker wrote; return its SHA-256. Raises OSError.

    In a directory that is no link. Not a second name: onnx and onnx_ir refuse external data that
    has several.
    """
    with _directory(target.parent) as above:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(target.name, dir_fd=above)
        made = os.open(target.name, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600, dir_fd=above)
        with os.fdopen(made, "wb") as writer, source.open("rb") as reader:
            return copy_into(reader.fileno(), writer)


def copy_from(descriptor: int, target: Path, on_bytes: OnBytes = lambda _count: None) -> str:
    """Write what a descriptor reads to a new file; return the SHA-256 of it. Raises OSError."""
    with target.open("xb") as writer:
        return copy_into(descriptor, writer, on_bytes)


def copy_into(descriptor: int, writer: IO[bytes], on_bytes: OnBytes = lambda _count: None) -> str:
    """Write what a descriptor reads to an open file; return the SHA-256 of it. Raises OSError."""
    digest = hashlib.sha256()
    with open(descriptor, "rb", closefd=False) as reader:
        while chunk := reader.read(_CHUNK):
            writer.write(chunk)
            digest.update(chunk)
            on_bytes(len(chunk))
    return digest.hexdigest()


def digest_from(descriptor: int) -> str:
    """Return the SHA-256 of what a descriptor reads. Raises OSError."""
    with open(descriptor, "rb", closefd=False) as reader:
        return hashlib.file_digest(reader, "sha256").hexdigest()


def describe(key: str, found: os.stat_result) -> StoredObject:
    """Return the file under a key as a store describes it."""
    etag = f"{found.st_mtime_ns:x}-{found.st_size:x}-{found.st_ino:x}"
    modified = datetime.fromtimestamp(found.st_mtime, UTC)
    return StoredObject(key, found.st_size, etag, modified=modified)


def check_digest(name: str, found: str, expected: str | None) -> None:
    """Raise ExportFailure if bytes have another SHA-256 than expected; None: any is."""
    if expected is not None and found != expected:
        raise artifact_changed(name, f"SHA-256 {found}, {expected} expected")
