"""New files in a tree: whole under their name or not there, and never through a link."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import secrets
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from modelexport_exporter.core.errors import ExportFailure
from modelexport_exporter.storage.errors import artifact_changed
from modelexport_exporter.storage.regular_files import (
    check_digest,
    copy_into,
    describe,
    link,
    opened,
)
from modelexport_exporter.storage.store import OnBytes
from modelexport_exporter.storage.tree import Tree

_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_MODE = 0o666
"""Less the umask, as of every new file."""
_WITHOUT_HARD_LINKS = {errno.EPERM, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK}

Identity = tuple[int, int, int, int]


def identity_of(found: os.stat_result) -> Identity:
    """Return what differs for another file, and after most changes of the same one."""
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns


@dataclass(frozen=True)
class PendingFile:
    """A file in a staging directory of the tree."""

    tree: Tree
    failure_of: Callable[[OSError, str], ExportFailure]
    staged: str
    target: str
    identity: Identity

    def publish(self) -> str:
        """Rename it to its place, over what was there; return its etag."""
        try:
            return self._publish()
        except OSError as error:
            raise self.failure_of(error, self.target) from error

    def _publish(self) -> str:
        with (
            self.tree.entry(self.staged, follow=False) as (at, staged),
            self.tree.entry(self.target, create=True, follow=False) as (above, name),
        ):
            found = os.stat(staged, dir_fd=at, follow_symlinks=False)
            if identity_of(found) != self.identity:
                raise artifact_changed(self.target, "it was changed where it was staged")
            # Who cleans up goes by when it was published.
            os.utime(staged, dir_fd=at, follow_symlinks=False)
            os.replace(staged, name, src_dir_fd=at, dst_dir_fd=above)
            _sync(above)
            return describe(name, os.stat(name, dir_fd=above, follow_symlinks=False)).etag

    def discard(self) -> None:
        """Remove it."""
        with (
            contextlib.suppress(OSError),
            self.tree.entry(self.staged, follow=False) as (at, staged),
        ):
            os.unlink(staged, dir_fd=at)


def bring(
    source: Path,
    tree: Tree,
    path: str,
    on_bytes: OnBytes,
    *,
    sha256: str | None,
    link_at: Path | None,
) -> Identity:
    """Bring a regular file to a new path, by a link where one may be made; return its identity."""
    with tree.entry(path, create=True) as (above, name):
        try:
            digest = link(source, link_at, on_bytes) if link_at else None
            if digest is not None:
                found = os.stat(name, dir_fd=above, follow_symlinks=False)
            else:
                digest, found = _copied(source, above, name, on_bytes)
            check_digest(source.name, digest, sha256)
        except BaseException:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(name, dir_fd=above)
            raise
    return identity_of(found)


def _copied(source: Path, above: int, name: str, on_bytes: OnBytes) -> tuple[str, os.stat_result]:
    with (
        opened(source) as reader,
        os.fdopen(os.open(name, _NEW, _MODE, dir_fd=above), "wb") as writer,
    ):
        digest = copy_into(reader, writer, on_bytes)
        writer.flush()
        os.fsync(writer.fileno())
        return digest, os.fstat(writer.fileno())


@dataclass(frozen=True)
class Place:
    """A name in an open directory, and the file next to it that shall get this name."""

    writer: IO[bytes]
    above: int
    temporary: str
    name: str

    def replace(self) -> None:
        """Give the file its name, over what is there."""
        self._flush()
        os.replace(self.temporary, self.name, src_dir_fd=self.above, dst_dir_fd=self.above)
        _sync(self.above)

    def appear(self) -> bool:
        """Give the file its name; return False if there is something of this name.

        By a hard link, which no other node can make at the same time either; the lock may hold for
        one node only. Where the file system has none, the lock has to do.
        """
        self._flush()
        ends = {"src_dir_fd": self.above, "dst_dir_fd": self.above}
        try:
            os.link(self.temporary, self.name, **ends, follow_symlinks=False)
        except FileExistsError:
            return False
        except OSError as error:
            if error.errno not in _WITHOUT_HARD_LINKS:
                raise
            self.replace()
        _sync(self.above)
        return True

    @contextlib.contextmanager
    def locked(self) -> Iterator[None]:
        """Hold the lock on the directory."""
        with readable(self.above) as descriptor:
            fcntl.flock(descriptor, fcntl.LOCK_EX)  # until the descriptor is closed
            yield

    def _flush(self) -> None:
        self.writer.flush()
        os.fsync(self.writer.fileno())


@contextlib.contextmanager
def replacement(tree: Tree, path: str) -> Iterator[tuple[IO[bytes], Place]]:
    """Yield a new file next to a path, and its place; it is gone at the end if it has no other."""
    with tree.entry(path, create=True, follow=False) as (above, name):
        temporary = f".{name}.{secrets.token_hex(4)}.tmp"
        descriptor = os.open(temporary, _NEW, _MODE, dir_fd=above)
        try:
            with os.fdopen(descriptor, "wb") as writer:
                yield writer, Place(writer, above, temporary, name)
        finally:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(temporary, dir_fd=above)


@contextlib.contextmanager
def readable(directory: int) -> Iterator[int]:
    """Open a directory again, for its entries and its lock."""
    descriptor = os.open(".", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC, dir_fd=directory)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def _sync(directory: int) -> None:
    """Write the names of a directory to the disk, where the file system can."""
    with contextlib.suppress(OSError), readable(directory) as descriptor:
        os.fsync(descriptor)
