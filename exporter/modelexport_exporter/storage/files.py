"""A `Store` over the file system, for `file://` URIs: keys are absolute paths.

Nothing is ever seen half-written under its name: contents go to a temporary name in the same
directory and are renamed. Conditional writes hold a lock on the directory, because a file system
has no compare-and-swap.
"""

from __future__ import annotations

import contextlib
import fcntl
import glob
import os
import secrets
import shutil
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from modelexport_exporter.core.digests import sha256_file
from modelexport_exporter.core.stored_object import StoredObject
from modelexport_exporter.storage import errors as storage_errors
from modelexport_exporter.storage.regular_files import (
    check_digest,
    copy_from,
    describe,
    link,
    opened,
)
from modelexport_exporter.storage.store import (
    SMALL_OBJECT_BYTES,
    ConditionFailedError,
    OnBytes,
    Role,
)

_CHUNK = 4 * 1024 * 1024
OWN_DIRECTORIES = {".staging", ".modelexport", "failed", "verifications"}
"""Directories that exist only while something is in them, as prefixes do in S3."""


class FileStore:
    """Files under their absolute paths."""

    def __init__(self, role: Role) -> None:
        self._role = role

    def uri(self, key: str) -> str:
        """Return the file:// URI of a path."""
        return f"file://{quote(key)}"

    def stat(self, key: str, version_id: str | None = None) -> StoredObject | None:
        """Return the file, or None where there is none. Files have no versions."""
        path = Path(key)
        with self._typed_errors(key):
            if key.endswith("/") or not path.is_file():
                return None
            return _describe(path)

    def list_all(self, prefix: str, depth: int | None = None) -> list[StoredObject]:
        """Return every file whose path starts with the prefix; links to directories are left."""
        with self._typed_errors(prefix):
            directory, _, beginning = prefix.rpartition("/")
            paths = _files_below(Path(f"{directory}/"), beginning, depth)
            found = [_if_file(path) for path in paths]
        return sorted((entry for entry in found if entry), key=lambda entry: entry.key)

    def names(self, prefix: str, limit: int | None = None) -> list[str]:
        """Return the first names directly below a directory; directories end in a slash."""
        with self._typed_errors(prefix):
            if not Path(prefix).is_dir():
                return []
            with os.scandir(prefix) as entries:
                found = sorted(entry.name + "/" * is_directory(entry) for entry in entries)
        return found[:limit]

    def read(self, key: str) -> tuple[bytes, StoredObject] | None:
        """Return a small file's content, or None where there is none."""
        path = Path(key)
        with self._typed_errors(key):
            if not path.is_file():
                return None
            with path.open("rb") as handle:
                return handle.read(SMALL_OBJECT_BYTES), _describe(path)

    def read_range(self, found: StoredObject, start: int, end: int) -> bytes:
        """Return some bytes of the file; fail if it was replaced in the meantime."""
        path = Path(found.key)
        with self._typed_errors(found.key):
            with path.open("rb") as handle:
                handle.seek(start)
                content = handle.read(end - start)
            if _describe(path) != found:
                raise storage_errors.replaced(self.uri(found.key))
        return content

    def local_path(self, key: str) -> Path | None:
        """Return the path itself: files are used in place."""
        return Path(key)

    def download(self, found: StoredObject, target: Path, on_bytes: OnBytes) -> None:
        """Copy the file; fail if it was replaced in the meantime."""
        with self._typed_errors(found.key):
            _copy(Path(found.key), target, on_bytes)
            if _describe(Path(found.key)) != found:
                raise storage_errors.replaced(self.uri(found.key))

    def stage(
        self,
        source: Path,
        key: str,
        staging: str,
        on_bytes: OnBytes,
        sha256: str | None = None,
        *,
        alone: bool = False,
    ) -> PendingFile:
        """Bring a file into the staging directory, which is on the target's file system.

        It is a link where nobody else can write into it, which costs reading it for its digest.
        """
        staged = Path(staging) / Path(key).name
        pending = PendingFile(staged, Path(key), self._role)
        try:
            with self._typed_errors(key):
                staged.parent.mkdir(parents=True, exist_ok=True)
                digest = link(source, staged, on_bytes) if alone else None
                if digest is None:
                    with opened(source) as descriptor:
                        digest = copy_from(descriptor, staged, on_bytes)
            check_digest(source.name, digest, sha256)
        except BaseException:
            pending.discard()
            raise
        return pending

    def copy(self, source: str, target: str) -> None:
        """Copy a file; a link would change with whatever is written into either."""
        with self._typed_errors(target), _temporary(Path(target)) as temporary:
            _copy(Path(source), temporary, lambda _count: None)
            temporary.replace(target)

    def digest(self, key: str) -> str | None:
        """Return the SHA-256 of a file, or None where there is none."""
        with self._typed_errors(key):
            return sha256_file(Path(key)) if Path(key).is_file() else None

    def write(self, key: str, content: bytes) -> None:
        """Write a small file, replacing what is there."""
        with self._typed_errors(key), _temporary(Path(key)) as temporary:
            _write_through(temporary, content)
            temporary.replace(key)

    def write_if(self, key: str, content: bytes, *, replaces: str | None) -> None:
        """Write a small file if its etag is still the one that is expected."""
        path = Path(key)
        with self._typed_errors(key), _temporary(path) as temporary, _locked(path.parent):
            _write_through(temporary, content)
            found = _describe(path).etag if path.is_file() else None
            if found != replaces:
                raise ConditionFailedError(key)
            temporary.replace(path)

    def delete(self, keys: Iterable[str]) -> None:
        """Delete files, and our directories that are empty afterwards."""
        for key in keys:
            with self._typed_errors(key):
                Path(key).unlink(missing_ok=True)
                self._prune(Path(key).parent)

    def discard_staged(self, directory: str, is_ours: Callable[[str], bool], staging: str) -> None:
        """Remove every staging directory whose path begins with `staging`."""
        del directory, is_ours
        parent = Path(staging).parent
        for found in parent.glob(f"{glob.escape(Path(staging).name)}*"):
            shutil.rmtree(found, ignore_errors=True)
        self._prune(parent)

    @staticmethod
    def _prune(directory: Path) -> None:
        """Remove empty directories upwards, up to the one that is an export's own."""
        own = next(
            (path for path in (directory, *directory.parents) if path.name in OWN_DIRECTORIES), None
        )
        if own is None:
            return
        with contextlib.suppress(OSError):
            while directory != own.parent:
                directory.rmdir()
                directory = directory.parent

    @contextlib.contextmanager
    def _typed_errors(self, key: str) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise storage_errors.from_os_error(error, self._role, key) from error
        except ValueError as error:
            if "\0" not in key:
                raise
            access = storage_errors.Access(self._role, self.uri(key), None, None)
            raise storage_errors.missing(access, f"no such path can exist: {error}") from error


@dataclass(frozen=True)
class PendingFile:
    """A file in a staging directory."""

    staged: Path
    target: Path
    role: Role

    def publish(self) -> str:
        """Rename it to its place, over what was there; return its etag."""
        try:
            self.target.parent.mkdir(parents=True, exist_ok=True)
            os.utime(self.staged)  # who cleans up goes by when it was published
            self.staged.replace(self.target)
            return _describe(self.target).etag
        except OSError as error:
            raise storage_errors.from_os_error(error, self.role, str(self.target)) from error

    def discard(self) -> None:
        """Remove it."""
        self.staged.unlink(missing_ok=True)


def is_directory(entry: os.DirEntry[str]) -> bool:
    """Return whether it is a directory, or a link to one; a dangling link is none, and no error."""
    try:
        return entry.is_dir()
    except OSError:
        return False


def _files_below(root: Path, beginning: str, depth: int | None) -> Iterator[Path]:
    """Yield what is no directory, below names that begin so; what may not be read is empty."""
    for at, directories, names in os.walk(root):
        level = len(Path(at).parts) - len(root.parts)
        if level == 0:
            directories[:] = [name for name in directories if name.startswith(beginning)]
            names[:] = [name for name in names if name.startswith(beginning)]
        if depth is not None and level >= depth:
            directories.clear()
        yield from (Path(at) / name for name in names)


def _if_file(path: Path) -> StoredObject | None:
    try:
        return _describe(path) if path.is_file() else None
    except FileNotFoundError:
        return None


def _describe(path: Path) -> StoredObject:
    return describe(str(path), path.stat())


def _copy(source: Path, target: Path, on_bytes: OnBytes) -> None:
    """Copy with a progress call for each chunk."""
    with source.open("rb") as reader, target.open("wb") as writer:
        while chunk := reader.read(_CHUNK):
            writer.write(chunk)
            on_bytes(len(chunk))
        writer.flush()
        os.fsync(writer.fileno())


def _write_through(path: Path, content: bytes) -> None:
    with path.open("wb") as handle:
        handle.write(content)
        handle.flush()
        os.fsync(handle.fileno())


@contextlib.contextmanager
def _temporary(target: Path) -> Iterator[Path]:
    """Yield a free name next to the target; it is removed at the end."""
    target.parent.mkdir(parents=True, exist_ok=True)
    temporary = target.with_name(f".{target.name}.{secrets.token_hex(4)}.tmp")
    try:
        yield temporary
    finally:
        temporary.unlink(missing_ok=True)


@contextlib.contextmanager
def _locked(directory: Path) -> Iterator[None]:
    descriptor = os.open(directory, os.O_RDONLY)
    try:
        with locked(descriptor):
            yield
    finally:
        os.close(descriptor)


@contextlib.contextmanager
def locked(descriptor: int) -> Iterator[None]:
    """Hold the lock on a directory."""
    fcntl.flock(descriptor, fcntl.LOCK_EX)
    try:
        yield
    finally:
        fcntl.flock(descriptor, fcntl.LOCK_UN)
