"""A `Store` over files, for `file://` and `pvc://` URIs: keys are paths in a tree.

Nothing is ever seen half-written under its name: contents go to a temporary name in the same
directory and are renamed. Conditional writes hold a lock on the directory, because a file system
has no compare-and-swap. Every file is opened by the rules of its `Tree`.
"""

from __future__ import annotations

import abc
import contextlib
import errno
import os
import shutil
import stat
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from types import TracebackType

from modelexport_exporter.core.errors import ExportFailure
from modelexport_exporter.core.stored_object import StoredObject
from modelexport_exporter.storage.errors import Access, disk_full, missing, replaced
from modelexport_exporter.storage.refused_places import RefusedPlaceError
from modelexport_exporter.storage.regular_files import (
    copy_from,
    copy_into,
    describe,
    digest_from,
)
from modelexport_exporter.storage.store import (
    SMALL_OBJECT_BYTES,
    ConditionFailedError,
    OnBytes,
    Origin,
    Role,
)
from modelexport_exporter.storage.tree import LeavesRootError, NoRootError, Tree
from modelexport_exporter.storage.tree_writing import (
    PendingFile,
    bring,
    readable,
    replacement,
)

_OWN_DIRECTORIES = {".staging", ".modelexport", "failed", "verifications"}
"""Directories that exist only while something is in them, as prefixes do in S3."""
_ABSENT = {errno.ENOENT, errno.ENOTDIR, errno.EISDIR, errno.ELOOP}


class TreeStore(abc.ABC):
    """Files under their paths in a tree."""

    def __init__(self, tree: Tree, role: Role) -> None:
        self._tree, self._role = tree, role

    @abc.abstractmethod
    def uri(self, key: str) -> str:
        """Return the URI that a user would write for the key."""

    @abc.abstractmethod
    def local_path(self, key: str) -> Path | None:
        """Return where the file can be opened in place; None where it must be copied."""

    @abc.abstractmethod
    def failure_of(self, error: OSError, key: str) -> ExportFailure:
        """Return the failure for an error of the file system."""

    def stat(self, key: str, version_id: str | None = None) -> StoredObject | None:
        """Return the file, or None where there is none. Files have no versions."""
        with self._typed_errors(key):
            return None if key.endswith("/") else self._stat(key)

    def _stat(self, key: str) -> StoredObject | None:
        with _NoneIfAbsent():
            found = self._tree.stat(key)
            return describe(key, found) if stat.S_ISREG(found.st_mode) else None
        return None

    def list_all(self, prefix: str, depth: int | None = None) -> list[StoredObject]:
        """Return every file whose path starts with the prefix; links to directories are left."""
        with self._typed_errors(prefix):
            found = [self._listed(key) for key in self._keys_below(prefix, depth)]
        return sorted((entry for entry in found if entry), key=lambda entry: entry.key)

    def _keys_below(self, prefix: str, depth: int | None) -> list[str]:
        """Return the keys of what is no directory; what may not be read is empty."""
        directory, slash, beginning = prefix.rpartition("/")
        keys = []
        with _NoneIfAbsent(), self._tree.directory(directory) as descriptor:
            for at, directories, names, at_descriptor in os.fwalk(".", dir_fd=descriptor):
                below = at.removeprefix(".").removeprefix("/")
                level = len(below.split("/")) if below else 0
                if self._tree.is_refused(at_descriptor):
                    directories.clear()
                    continue
                if level == 0:
                    directories[:] = [name for name in directories if name.startswith(beginning)]
                    names[:] = [name for name in names if name.startswith(beginning)]
                if depth is not None and level >= depth:
                    directories.clear()
                above = directory + slash + (f"{below}/" if below else "")
                keys += [above + name for name in names]
        return keys

    def _listed(self, key: str) -> StoredObject | None:
        # A link out of the volume is not a file of it, and must not end a listing.
        with contextlib.suppress(LeavesRootError):
            try:
                return self._stat(key)
            except RefusedPlaceError:
                # A link is listed, so that reading it raises the reason; anything else is no file.
                with self._tree.entry(key, follow=False) as (above, name):
                    found = os.stat(name, dir_fd=above, follow_symlinks=False)
                return describe(key, found) if stat.S_ISLNK(found.st_mode) else None
        return None

    def names(self, prefix: str, limit: int | None = None) -> list[str]:
        """Return the first names directly below a directory; directories end in a slash."""
        found: list[str] = []
        with (
            self._typed_errors(prefix),
            _NoneIfAbsent(),
            self._tree.directory(prefix) as here,
            readable(here) as descriptor,
            os.scandir(descriptor) as entries,
        ):
            found = sorted(entry.name + "/" * _is_directory(entry) for entry in entries)
        return found[:limit]

    def read(self, key: str) -> tuple[bytes, StoredObject] | None:
        """Return a small file's content, or None where there is none."""
        with self._typed_errors(key), _NoneIfAbsent(), self._tree.file(key) as descriptor:
            with open(descriptor, "rb", closefd=False) as handle:
                content = handle.read(SMALL_OBJECT_BYTES)
            return content, describe(key, os.fstat(descriptor))
        return None

    def read_range(self, found: StoredObject, start: int, end: int) -> bytes:
        """Return some bytes of the file; fail if it was replaced in the meantime."""
        with self._same(found) as descriptor, open(descriptor, "rb", closefd=False) as handle:
            handle.seek(start)
            return handle.read(end - start)

    def download(self, found: StoredObject, target: Path, on_bytes: OnBytes) -> None:
        """Copy the file; fail if it was replaced in the meantime."""
        target.unlink(missing_ok=True)
        with self._same(found) as descriptor:
            try:
                copy_from(descriptor, target, on_bytes)
            except OSError as error:
                if error.errno in {errno.ENOSPC, errno.EDQUOT}:
                    raise disk_full(str(target)) from error
                raise

    @contextlib.contextmanager
    def _same(self, found: StoredObject) -> Iterator[int]:
        """Open a file that was found; fail if it is another one, or becomes one meanwhile."""
        with self._typed_errors(found.key), self._tree.file(found.key) as descriptor:
            if describe(found.key, os.fstat(descriptor)) != found:
                raise replaced(self.uri(found.key))
            yield descriptor
            if describe(found.key, os.fstat(descriptor)) != found:
                raise replaced(self.uri(found.key))

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
        staged = f"{staging.rstrip('/')}/{key.rpartition('/')[2]}"
        link_at = self.local_path(staged) if alone else None
        with self._typed_errors(key):
            identity = bring(source, self._tree, staged, on_bytes, sha256=sha256, link_at=link_at)
        return PendingFile(self._tree, self.failure_of, staged, key, identity)

    def stage_copy(self, origin: Origin, key: str, on_bytes: OnBytes, sha256: str) -> None:
        """Return None: nobody else copies files, and a link would change with the original."""
        return

    def copy(self, source: str, target: str) -> None:
        """Copy a file."""
        with (
            self._typed_errors(target),
            self._tree.file(source) as reader,
            replacement(self._tree, target) as (writer, place),
        ):
            copy_into(reader, writer)
            place.replace()

    def digest(self, key: str) -> str | None:
        """Return the SHA-256 of a file, or None where there is none."""
        with self._typed_errors(key), _NoneIfAbsent(), self._tree.file(key) as descriptor:
            return digest_from(descriptor)
        return None

    def write(self, key: str, content: bytes) -> None:
        """Write a small file, replacing what is there."""
        with self._typed_errors(key), replacement(self._tree, key) as (writer, place):
            writer.write(content)
            place.replace()

    def write_if(self, key: str, content: bytes, *, replaces: str | None) -> None:
        """Write a small file if its etag is still the one that is expected."""
        with self._typed_errors(key), replacement(self._tree, key) as (writer, place):
            writer.write(content)
            with place.locked():
                found = self._stat(key)
                if (found.etag if found else None) != replaces:
                    raise ConditionFailedError(key)
                if replaces is not None:
                    place.replace()
                elif not place.appear():
                    raise ConditionFailedError(key)

    def delete(self, keys: Iterable[str]) -> None:
        """Delete files, and our directories that are empty afterwards."""
        for key in keys:
            with self._typed_errors(key):
                with _NoneIfAbsent(), self._tree.entry(key, follow=False) as (above, name):
                    os.unlink(name, dir_fd=above)
                self._prune(key.rpartition("/")[0])

    def discard_staged(self, directory: str, is_ours: Callable[[str], bool], staging: str) -> None:
        """Remove every staging directory whose path begins with `staging`."""
        del directory, is_ours
        parent, slash, beginning = staging.rpartition("/")
        with self._typed_errors(staging):
            with _NoneIfAbsent(), self._tree.directory(parent) as here:
                for name in self.names(parent + slash):
                    if name.startswith(beginning) and name.endswith("/"):
                        # It follows no links.
                        shutil.rmtree(name.rstrip("/"), ignore_errors=True, dir_fd=here)
            self._prune(parent)

    def _prune(self, directory: str) -> None:
        """Remove empty directories upwards, up to the one that is an export's own."""
        names = directory.split("/")
        own = next((n for n in reversed(range(len(names))) if names[n] in _OWN_DIRECTORIES), None)
        if own is None:
            return
        with contextlib.suppress(OSError):
            for length in range(len(names), own, -1):
                with self._tree.entry("/".join(names[:length]), follow=False) as (above, name):
                    os.rmdir(name, dir_fd=above)

    @contextlib.contextmanager
    def _typed_errors(self, key: str) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise self.failure_of(error, key) from error
        except ValueError as error:
            if "\0" not in key:
                raise
            access = Access(self._role, self.uri(key), None, None)
            raise missing(access, f"no such path can exist: {error}") from error


class _NoneIfAbsent(contextlib.AbstractContextManager[None]):
    """Goes on after the block where a path does not exist; a missing mount is an error."""

    def __exit__(
        self, _kind: object, error: BaseException | None, _trace: TracebackType | None
    ) -> bool:
        return (
            isinstance(error, OSError)
            and not isinstance(error, NoRootError)
            and error.errno in _ABSENT
        )


def _is_directory(entry: os.DirEntry[str]) -> bool:
    """Return whether it is a directory, or a link to one; a dangling link is none, and no error."""
    try:
        return entry.is_dir()
    except OSError:
        return False
