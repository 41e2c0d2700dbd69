"""Puts a verified artifact under its final name, so that any process may die at any instruction.

Files are uploaded while verification still runs, invisible to readers: as multipart uploads that
are not completed, or in `<destination>/.staging/<resource>-<random>/` on a file system. After the
verdict they appear under their names, without another copy: external data first (its name carries
its digest, so it never replaces what a reader holds), then model.onnx, then its documents, and
manifest.json last, by a conditional write. Only then are files deleted that no manifest names.
A process that dies in between leaves the old artifact, or none, to a reader of the manifest; the
next run overwrites the rest.
"""

from __future__ import annotations

import contextlib
import secrets
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from modelexport_api.reasons import Reason
from modelexport_api.spec import Layout, Overwrite
from modelexport_api.status import ArtifactFile
from modelexport_exporter.core.digests import digest_of
from modelexport_exporter.core.errors import ExportFailure
from modelexport_exporter.publish import manifest as manifests
from modelexport_exporter.publish.layout import (
    MODEL_NAME,
    VERSION_DIRECTORY,
    is_data,
    is_ours,
    promotion_order,
    published_name,
)
from modelexport_exporter.publish.manifest import MANIFEST_NAME, Decision, Found, Manifest, Work
from modelexport_exporter.storage.store import ConditionFailedError, Location, OnBytes, Pending

STAGING_NAME = ".staging"
FAILED_NAME = "failed"
_MARKER_NAME = "marker"
_ATTEMPTS = 3
_MOST_NAMES = 1000


def resource_key(name: str, namespace: str | None, uid: str | None) -> str:
    """Return what the staging directories of a resource begin with."""
    return f"{name[:64]}-{digest_of([namespace, name, uid])[:12]}"


def failed_directory(resource_name: str, spec_sha256: str) -> str:
    """Return the directory of a failure's reports: never where an artifact's reports are."""
    return f"{FAILED_NAME}/{resource_name}-{spec_sha256[:12]}/"


@dataclass(frozen=True)
class Claim:
    """What is to be published, and what makes it the same work as another's."""

    manifest: Manifest
    work: Work
    previous: Found | None
    """The manifest that was there when the export began."""


@dataclass
class Publication:
    """One attempt to publish to a destination."""

    destination: Location
    resource: str
    layout: Layout = Layout.PLAIN
    staged: dict[str, Pending] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._staging = self.destination.child(f"{STAGING_NAME}/{self.resource}-")
        self._own = Location(self._staging.store, self._staging.key + secrets.token_hex(4))

    def find(self) -> Found | None:
        """Return the manifest at the destination; one whose files are gone counts as foreign."""
        found = self._read()
        if found is None or found.manifest is None or self._is_complete(found.manifest):
            return found
        return Found(found.etag, None, broken=found.manifest)

    def _read(self) -> Found | None:
        answer = self.destination.store.read(self.destination.child(MANIFEST_NAME).key)
        if answer is None:
            return None
        content, stored = answer
        return Found(stored.etag, manifests.parse(content))

    def _is_complete(self, manifest: Manifest) -> bool:
        for file in manifest.artifact.files:
            stored = self.destination.store.stat(self.destination.child(file.name).key)
            if stored is None or stored.size_bytes != file.size_bytes:
                return False
        return True

    def check_unclaimed(self) -> None:
        """For overwrite Never: fail where a model.onnx of another writer has no manifest.

        One with a staging directory of this resource next to it is our own, half-published.
        """
        store = self.destination.store
        model = self.destination.child(published_name(self.layout, MODEL_NAME))
        staging = self.destination.child(STAGING_NAME).as_directory()
        mine = [name for name in store.names(staging.key, _MOST_NAMES) if self._is_mine(name)]
        if not mine and store.stat(model.key) is not None:
            raise destination_taken(model.uri)

    def _is_mine(self, name: str) -> bool:
        return name.startswith(f"{self.resource}-")

    def open(self) -> None:
        """Find out that the destination can be written before anything is computed for it."""
        self._own.store.write(self._own.child(_MARKER_NAME).key, b"")

    @property
    def is_local(self) -> bool:
        """Return whether the destination is a directory of this machine."""
        return self.destination.store.local_path(self.destination.key) is not None

    def stage(self, path: Path, name: str, on_bytes: OnBytes) -> None:
        """Bring a file to where no reader looks; it will appear at its place in the layout."""
        name = published_name(self.layout, name)
        target = self.destination.child(name).key
        self.staged[name] = self.destination.store.stage(path, target, self._own.key, on_bytes)

    def commit(self, claim: Claim) -> Manifest:
        """Make the staged files the artifact; return the manifest that is in force now.

        That is another's where the same work was published in the meantime.
        """
        current = self.find()
        if current != claim.previous and current is not None:
            return self._theirs(claim, current)
        moved = self._promote()
        for _ in range(_ATTEMPTS):
            if self._write_manifest(claim.manifest, current):
                return claim.manifest
            current = self._read()
            if current is not None:
                theirs = self._theirs(claim, current)
                if self._etags(moved) != moved:
                    return theirs
            # The files are ours, so the manifest has to be.
        raise ExportFailure(
            Reason.STORE_UNAVAILABLE,
            f"{self.destination.uri} is being written by others all the time",
            "Will be retried. Give each ModelExport its own destination.",
        )

    def _theirs(self, claim: Claim, current: Found) -> Manifest:
        """Return what another process published meanwhile, if it answers for ours."""
        decision = manifests.decide(Overwrite.NEVER, current, claim.work)
        if decision is not Decision.REUSE or current.manifest is None:
            raise destination_taken(self.destination.uri)
        return current.manifest

    def _promote(self) -> dict[str, str | None]:
        """Make the staged files appear under their names; return the etags they have there."""
        return {name: self.staged.pop(name).publish() for name in promotion_order(self.staged)}

    def _etags(self, names: Iterable[str]) -> dict[str, str | None]:
        found = {
            name: self.destination.store.stat(self.destination.child(name).key) for name in names
        }
        return {name: stored.etag if stored else None for name, stored in found.items()}

    def _write_manifest(self, manifest: Manifest, current: Found | None) -> bool:
        content = manifest.model_dump_json(by_alias=True, exclude_none=True, indent=2).encode()
        key = self.destination.child(MANIFEST_NAME).key
        try:
            self.destination.store.write_if(
                key, content, replaces=current.etag if current else None
            )
        except ConditionFailedError:
            return False
        return True

    def tidy(self, manifest: Manifest) -> None:
        """Delete files that no manifest names any more, now that this one is in force.

        That is the external data of the artifact before, data that a killed process had moved to
        its place, files of another layout, and everything that was staged for this resource.
        """
        kept = {file.name for file in manifest.artifact.files}
        own = _directories(manifest)
        orphans = [name for name in self._data_names(own) if name not in kept]
        orphans += [file.name for file in manifest.superseded if self._is_still_there(file)]
        self.destination.store.delete(self.destination.child(name).key for name in orphans)
        self.destination.store.discard_staged(
            self.destination.key,
            lambda name: is_ours(name) and name[: name.rfind("/") + 1] in own,
            self._staging.key,
        )

    def _data_names(self, directories: Iterable[str]) -> list[str]:
        below = [
            directory + name
            for directory in directories
            for name in self.destination.store.names(self.destination.key + directory, _MOST_NAMES)
        ]
        return [name for name in below if is_data(name)]

    def _is_still_there(self, file: ArtifactFile) -> bool:
        """Return whether a file is the superseded one, and not a newer one of the same name."""
        stored = self.destination.store.stat(self.destination.child(file.name).key)
        return stored is not None and stored.size_bytes == file.size_bytes

    def publish_failure(self, name: str, report: bytes) -> str:
        """Store the report of a failure; return its URI."""
        where = self.destination.child(name)
        where.store.write(where.key, report)
        return where.uri

    def forget_failure(self, directory: str, names: Iterable[str]) -> None:
        """Delete the reports of a failure in a directory below, if there are any."""
        where = self.destination.child(directory).as_directory()
        if where.store.names(where.key, 1):
            where.store.delete(where.child(name).key for name in names)

    def drop_staged(self) -> None:
        """Drop what was staged and is not to be published."""
        for pending in self.staged.values():
            pending.discard()
        self.staged.clear()

    def close(self) -> None:
        """Drop what this run staged and did not publish."""
        self.drop_staged()
        self.destination.store.delete([self._own.child(_MARKER_NAME).key])


def _directories(manifest: Manifest) -> list[str]:
    """Return where our files may be: `1/` may be another resource's destination."""
    names = [file.name for file in (*manifest.artifact.files, *manifest.superseded)]
    versioned = any(name.startswith(VERSION_DIRECTORY) for name in names)
    return ["", VERSION_DIRECTORY] if versioned else [""]


@contextlib.contextmanager
def open_publication(publication: Publication) -> Iterator[Publication]:
    """Open a publication; at the end, nothing of this attempt stays staged."""
    try:
        publication.open()
        yield publication
    finally:
        with contextlib.suppress(ExportFailure):
            publication.close()


def destination_taken(uri: str) -> ExportFailure:
    """Return the failure for a destination that holds another artifact."""
    return ExportFailure(
        Reason.DESTINATION_EXISTS,
        f"{uri} holds another artifact",
        "Choose another spec.destination.uri, or set destination.overwrite to IfChanged.",
    )
