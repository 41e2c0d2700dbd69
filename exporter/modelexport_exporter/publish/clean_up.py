"""Deletes contents that no manifest names, when nobody can need them any more.

A reader may be in the middle of what an earlier manifest named, and another process may have put a
content there that its manifest is about to name. So only what is older than a grace is deleted, by
the next run after it; a content that is published again is young again.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta

from modelexport_exporter.publish.layout import (
    CONTENT_DIRECTORY,
    VERSION_DIRECTORY,
    is_content,
)
from modelexport_exporter.publish.manifest import Manifest, SupersededFile
from modelexport_exporter.storage.store import Location

GRACE = timedelta(hours=1)
_MOST_NAMES = 1000


def is_due(file: SupersededFile, now: datetime) -> bool:
    """Return whether no reader of an earlier manifest can be at a file any more."""
    return file.since is None or now - file.since >= GRACE


def delete_unnamed(destination: Location, manifest: Manifest) -> None:
    """Delete old contents that the manifest in force does not name. Raises ExportFailure."""
    now = datetime.now(UTC)
    needed = {manifest.path(file.name) for file in manifest.artifact.files}
    needed |= {file.name for file in manifest.superseded if not is_due(file, now)}
    names = _contents(destination, directories(manifest))
    places = (destination.child(name) for name in names if name not in needed)
    # Lazily: each one's age is read just before it is deleted.
    destination.store.delete(where.key for where in places if _is_old(where, now))


def remaining(
    destination: Location, files: Iterable[SupersededFile], now: datetime
) -> list[SupersededFile]:
    """Return the superseded files that are still to be deleted: the list must not grow."""
    return [file for file in files if not is_due(file, now) or _is_there(destination, file.name)]


def directories(manifest: Manifest) -> list[str]:
    """Return where our files may be: `1/` may be another resource's destination."""
    names = [file.name for file in (*manifest.artifact.files, *manifest.superseded)]
    versioned = any(name.startswith(VERSION_DIRECTORY) for name in names)
    return ["", CONTENT_DIRECTORY, *([VERSION_DIRECTORY] if versioned else [])]


def _contents(destination: Location, below: Iterable[str]) -> list[str]:
    names = [
        directory + name
        for directory in below
        for name in destination.store.names(destination.key + directory, _MOST_NAMES)
    ]
    return [name for name in names if is_content(name)]


def _is_there(destination: Location, name: str) -> bool:
    return destination.store.stat(destination.child(name).key) is not None


def _is_old(where: Location, now: datetime) -> bool:
    stored = where.store.stat(where.key)
    return stored is not None and stored.modified is not None and now - stored.modified >= GRACE
