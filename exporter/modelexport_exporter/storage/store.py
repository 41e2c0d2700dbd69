"""Objects under keys, in S3 or in directories: the little that an export needs of either.

Every stage talks to a `Store` and never asks which one it is. A store is opened for a role, so that
the same refusal is reported as a missing checkpoint or as a destination that cannot be written.
Every error that leaves a store is an `ExportFailure`, except `ConditionFailedError`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Protocol

from modelexport_exporter.core.stored_object import StoredObject

SMALL_OBJECT_BYTES = 64 << 20
"""Of an object that is read as a whole, at most; the rest is ignored."""
OnBytes = Callable[[int], None]
"""Called with the number of bytes that were moved since the last call, from any thread."""


class Role(StrEnum):
    """What a store is used for."""

    SOURCE = "source"
    CODE = "code"
    ARTIFACT = "artifact"
    """One that exists and is to be verified."""
    DESTINATION = "destination"


class ConditionFailedError(Exception):
    """A conditional write found that another writer was first."""


class Pending(Protocol):
    """A file that is in the store already, but not under its key."""

    def publish(self) -> str:
        """Make it appear under its key at once, in place of what was there; return its etag."""

    def discard(self) -> None:
        """Drop it."""


class Store(Protocol):
    """Objects under keys. A directory is a prefix that ends in a slash."""

    def uri(self, key: str) -> str:
        """Return the URI that a user would write for the key."""

    def stat(self, key: str, version_id: str | None = None) -> StoredObject | None:
        """Return the object, or None where there is none."""

    def list_all(self, prefix: str, depth: int | None = None) -> list[StoredObject]:
        """Return every object whose key starts with the prefix, in order of the keys.

        `depth`: how many directories below the prefix's own to descend at most.
        """

    def names(self, prefix: str, limit: int | None = None) -> list[str]:
        """Return the first names directly below a directory, all without a limit.

        Directories end in a slash.
        """

    def read(self, key: str) -> tuple[bytes, StoredObject] | None:
        """Return a small object's content, or None where there is none."""

    def read_range(self, found: StoredObject, start: int, end: int) -> bytes:
        """Return some bytes of exactly this object; fail if it was replaced in the meantime."""

    def local_path(self, key: str) -> Path | None:
        """Return where the object can be opened in place; None where it must be downloaded."""

    def download(self, found: StoredObject, target: Path, on_bytes: OnBytes) -> None:
        """Write exactly this object to a file; fail if it was replaced in the meantime."""

    def stage(
        self,
        source: Path,
        key: str,
        staging: str,
        on_bytes: OnBytes,
        sha256: str | None = None,
        *,
        alone: bool = False,
    ) -> Pending:
        """Upload a regular file, invisible to readers of the key.

        `staging` is a directory for stores that have to keep it somewhere until it is published.
        `sha256`: what the bytes that are staged have to have, else ExportFailure. `alone`: whether
        no other process has the file open, so that it need not be copied.
        """

    def stage_copy(
        self, origin: Origin, key: str, on_bytes: OnBytes, sha256: str
    ) -> Pending | None:
        """Let the store itself copy an object, invisible to readers of the key.

        None where it cannot, so that a file has to be staged. `sha256`: of exactly this object;
        ExportFailure if it was replaced in the meantime.
        """

    def copy(self, source: str, target: str) -> None:
        """Give a key the content of another one, at once and inside of the store."""

    def digest(self, key: str) -> str | None:
        """Return the SHA-256 of an object, or None where there is none.

        It is the one that the store keeps, or that of the bytes.
        """

    def write(self, key: str, content: bytes) -> None:
        """Store a small content under the key, replacing what is there."""

    def write_if(self, key: str, content: bytes, *, replaces: str | None) -> None:
        """Store a small content if the key still has the etag `replaces` (None: is still free).

        Raises ConditionFailedError otherwise.
        """

    def delete(self, keys: Iterable[str]) -> None:
        """Delete objects; those that are gone already are no error."""

    def discard_staged(self, directory: str, is_ours: Callable[[str], bool], staging: str) -> None:
        """Drop what killed processes staged for our names in a directory.

        That is everything below keys that begin with `staging`.
        """


@dataclass(frozen=True)
class Origin:
    """An object, and the store that it is in."""

    store: Store
    found: StoredObject


@dataclass(frozen=True)
class Location:
    """A key in a store."""

    store: Store
    key: str

    @property
    def uri(self) -> str:
        """Return the URI that a user would write."""
        return self.store.uri(self.key)

    def child(self, name: str) -> Location:
        """Return the location of a name below this one."""
        return Location(self.store, f"{self.key.rstrip('/')}/{name}" if self.key else name)

    def as_directory(self) -> Location:
        """Return the same location with the slash that a directory ends in."""
        if not self.key or self.key.endswith("/"):
            return self
        return Location(self.store, self.key + "/")
