"""The checkpoints of a batch: what a glob matches in a store, or what `uris` names.

A glob that matches nothing is a failure of the batch; a URI that names nothing is a failure of that
checkpoint, found when it is exported.
"""

from __future__ import annotations

from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from modelexport_api.reasons import Reason
from modelexport_api.spec import ModelExportSpec
from modelexport_exporter.batch.glob import Glob, names_store, of_uri
from modelexport_exporter.core.digests import digest_of
from modelexport_exporter.core.errors import ExportFailure
from modelexport_exporter.core.stored_object import StoredObject
from modelexport_exporter.storage.locate import Stores
from modelexport_exporter.storage.store import Location, Store

_THREADS = 8
_NEIGHBOURS = 5
_MOST_NAMES = 1000


@dataclass(frozen=True)
class Listed:
    """A checkpoint at the time of the listing."""

    uri: str
    size_bytes: int = 0
    etag: str | None = None
    """Of a directory: a digest of its files' etags. None: not found."""


def list_checkpoints(spec: ModelExportSpec) -> list[Listed]:
    """Return the checkpoints, those of a glob in the order of their names. Raises ExportFailure."""
    stores = Stores(spec)
    if spec.source.uris is not None:
        return _stat_all(spec.source.uris, stores)
    return _matching(spec.source.one, stores)


def _matching(uri: str, stores: Stores) -> list[Listed]:
    if not names_store(uri):
        raise ExportFailure(
            Reason.INVALID_MANIFEST,
            f"{uri} has a pattern in its bucket name",
            "Name one bucket; *, ? and [abc] match in what follows it. Several buckets: list the "
            "checkpoints in spec.source.uris.",
        )
    base, glob = of_uri(uri)
    store = stores.source(base).store
    found = store.list_all(glob.prefix, glob.depth)
    listed = [
        Listed(store.uri(entry.key), entry.size_bytes, entry.etag)
        for entry in (_directories(found) if glob.wants_directories else found)
        if glob.matches(entry.key)
    ]
    if not listed:
        raise _nothing_matched(uri, glob, store, found)
    return listed


def _directories(found: Iterable[StoredObject]) -> list[StoredObject]:
    """Return every directory that contains objects, at any depth, with the sum of their sizes."""
    contents: dict[str, list[StoredObject]] = {}
    for entry in found:
        parts = entry.key.split("/")[:-1]
        for length in range(1, len(parts) + 1):
            contents.setdefault("/".join(parts[:length]) + "/", []).append(entry)
    return [_directory(key, contents[key]) for key in sorted(contents)]


def _directory(key: str, entries: list[StoredObject]) -> StoredObject:
    size = sum(entry.size_bytes for entry in entries)
    return StoredObject(key, size, digest_of([[entry.key, entry.etag] for entry in entries]))


def _stat_all(uris: list[str], stores: Stores) -> list[Listed]:
    with ThreadPoolExecutor(_THREADS, thread_name_prefix="listing") as pool:
        return list(pool.map(lambda uri: _stat_uri(uri, stores), uris))


def _stat_uri(uri: str, stores: Stores) -> Listed:
    """Return what one URI names; without size and etag if it cannot be read now."""
    where = stores.source(uri)
    try:
        found = _stat(where)
    except ExportFailure:
        return Listed(uri)
    return Listed(uri, found.size_bytes, found.etag) if found else Listed(uri)


def _stat(where: Location) -> StoredObject | None:
    if not where.key.endswith("/"):
        return where.store.stat(where.key)
    entries = where.store.list_all(where.key)
    return _directory(where.key, entries) if entries else None


def _nothing_matched(
    uri: str, glob: Glob, store: Store, found: list[StoredObject]
) -> ExportFailure:
    hint = "Correct spec.source.uri, or wait until the training jobs have written them."
    if glob.wants_directories:
        hint = f"A glob that ends in / matches directories only. {hint}"
    return ExportFailure(
        Reason.NOTHING_MATCHED,
        f"{uri} matches nothing; {_neighbours(glob, store, found)}",
        hint,
    )


def _neighbours(glob: Glob, store: Store, found: list[StoredObject]) -> str:
    """Describe the searched prefix, and its content or that of the nearest existing directory."""
    looked = store.uri(glob.prefix)
    if found:
        kind = "directories" if glob.wants_directories else "objects"
        entries = _directories(found) if glob.wants_directories else found
        names = [entry.key.removeprefix(glob.prefix.rpartition("/")[0] + "/") for entry in entries]
        return f"below {looked} there are {len(entries)} {kind}: {_some(names)}"
    directory = glob.prefix
    while directory.rstrip("/"):
        directory = directory.rstrip("/").rpartition("/")[0]
        directory += "/" if directory or glob.prefix.startswith("/") else ""
        names = store.names(directory, _MOST_NAMES)
        if names:
            return f"there is nothing below {looked}; {store.uri(directory)} has {_some(names)}"
    return f"there is nothing below {looked}"


def _some(names: list[str]) -> str:
    shown = ", ".join(names[:_NEIGHBOURS])
    return f"{shown}, …" if len(names) > _NEIGHBOURS else shown
