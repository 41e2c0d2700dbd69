"""A `Store` over a mounted PersistentVolumeClaim, for `pvc://` URIs: keys are paths in its volume.

It keeps the promises of `FileStore`, in a directory that others write to: every file is opened
below the mount without following a link out of it (`beneath`). What is read is copied to the run's
own directory, as from S3, so that a training job that goes on changes nothing of what is exported.
"""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
import stat
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from types import TracebackType

from modelexport_api.claims import SCHEME
from modelexport_exporter.core.stored_object import StoredObject
from modelexport_exporter.storage.beneath import LeavesRootError, NoRootError, Tree
from modelexport_exporter.storage.claim_errors import Mount, typed_errors
from modelexport_exporter.storage.claim_writing import (
    PendingClaimFile,
    created,
    identity_of,
    readable,
    replacement,
)
from modelexport_exporter.storage.errors import disk_full, replaced
from modelexport_exporter.storage.files import OWN_DIRECTORIES, is_directory
from modelexport_exporter.storage.regular_files import (
    check_digest,
    copy_from,
    copy_into,
    describe,
    digest_from,
    opened,
)
from modelexport_exporter.storage.store import (
    SMALL_OBJECT_BYTES,
    ConditionFailedError,
    OnBytes,
    Role,
)

_ABSENT = {errno.ENOENT, errno.ENOTDIR, errno.EISDIR, errno.ELOOP}


class ClaimStore:
    """Files under their paths in the volume of a claim."""

    def __init__(self, claim: str, root: Path, role: Role) -> None:
        self._mount = Mount(claim, root, role)
        self._tree = Tree(root)

    def uri(self, key: str) -> str:
        """Return the pvc:// URI of a path."""
        return f"{SCHEME}{self._mount.claim}/{key}"

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
            for at, directories, names, _ in os.fwalk(".", dir_fd=descriptor):
                below = at.removeprefix(".").removeprefix("/")
                level = len(below.split("/")) if below else 0
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
            return self._stat(key)
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
            found = sorted(entry.name + "/" * is_directory(entry) for entry in entries)
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

    def local_path(self, key: str) -> Path | None:
        """Return None: a path would be followed out of the volume, by whoever opens it."""
        return None

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
    ) -> PendingClaimFile:
        """Copy the file to the staging directory, which is on the volume."""
        del alone  # the run's directory is never on the volume
        staged = f"{staging.rstrip('/')}/{key.rpartition('/')[2]}"
        with self._typed_errors(key), created(self._tree, staged) as writer:
            with opened(source) as reader:
                digest = copy_into(reader, writer, on_bytes)
            check_digest(source.name, digest, sha256)
            writer.flush()
            os.fsync(writer.fileno())
            identity = identity_of(os.fstat(writer.fileno()))
        return PendingClaimFile(self._tree, self._mount, staged, key, identity)

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
        own = next((n for n in reversed(range(len(names))) if names[n] in OWN_DIRECTORIES), None)
        if own is None:
            return
        with contextlib.suppress(OSError):
            for length in range(len(names), own, -1):
                with self._tree.entry("/".join(names[:length]), follow=False) as (above, name):
                    os.rmdir(name, dir_fd=above)

    def _typed_errors(self, key: str) -> contextlib.AbstractContextManager[None]:
        return typed_errors(self._mount, self.uri(key))


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
