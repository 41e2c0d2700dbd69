"""Whether an artifact is whole at its destination, and its files under their plain names.

A manifest names files by their content, at paths where no other bytes are ever written. The plain
names (`model.onnx`) are copies for readers who do not read the manifest. They follow it: a run
that wrote a copy reads the manifest afterwards, and writes the copies of another one that is in
force by then. A process that dies before it read leaves plain names for the next run to repair.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from modelexport_exporter.publish.layout import is_content, is_ours, promotion_order
from modelexport_exporter.publish.manifest import Manifest
from modelexport_exporter.storage.store import Location

_ROUNDS = 20
"""Of two processes, each makes one copy too many; more only if others publish all the time."""


def is_whole(destination: Location, manifest: Manifest) -> bool:
    """Return whether each file of an artifact is there, with the bytes that were verified."""
    return all(
        _is_stored(
            destination.child(manifest.path(file.name)), file.sha256, _etag(manifest, file.name)
        )
        for file in manifest.artifact.files
    )


def _etag(manifest: Manifest, name: str) -> str | None:
    content = manifest.contents.get(name)
    return content.etag if content else None


def _is_stored(where: Location, sha256: str, etag: str | None) -> bool:
    """Return whether an object has a digest; the etag that it had then answers at once."""
    if etag is not None:
        stored = where.store.stat(where.key)
        if stored is None or stored.etag == etag:
            return stored is not None
    return where.store.digest(where.key) == sha256


def place_plain_names(
    destination: Location, manifest: Manifest, in_force: Callable[[], Manifest | None]
) -> None:
    """Copy the files to their plain names where these differ; remove plain names of no file.

    `in_force`: reads the manifest. Raises ExportFailure.
    """
    for _ in range(_ROUNDS):
        digests = {file.name: file.sha256 for file in manifest.artifact.files}
        for name in promotion_order(digests):
            source, plain = destination.child(manifest.path(name)), destination.child(name)
            if source != plain and plain.store.digest(plain.key) != digests[name]:
                plain.store.copy(source.key, plain.key)
        if former := [destination.child(name).key for name in _former(destination, manifest)]:
            destination.store.delete(former)
        latest = in_force()
        if latest is None or latest == manifest:
            return
        manifest = latest


def _former(destination: Location, manifest: Manifest) -> Iterator[str]:
    """Yield plain names of earlier artifacts that still have their bytes."""
    named = {file.name for file in manifest.artifact.files}
    for file in manifest.superseded:
        if is_ours(file.name) and not is_content(file.name) and file.name not in named:
            where = destination.child(file.name)
            if where.store.digest(where.key) == file.sha256:
                yield file.name
