"""Puts a verified artifact at its destination, so that any process may die at any instruction.

Files are uploaded while verification still runs, invisible to readers: as multipart uploads that
are not completed, or in `<destination>/.staging/<resource>-<random>/` on a file system. After the
verdict they appear under names of their content, which replaces nothing; then manifest.json, by a
conditional write, is what makes them the artifact. A reader that follows the manifest has the whole
old or the whole new one. Plain names and the deletion of what nobody names come last. A process
that dies in between leaves that to the next run.
"""

from __future__ import annotations

import contextlib
import secrets
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from modelexport_api.reasons import Reason
from modelexport_api.spec import Layout, Overwrite
from modelexport_exporter.core.digests import digest_of
from modelexport_exporter.core.errors import ExportFailure
from modelexport_exporter.core.types import WrittenFile
from modelexport_exporter.publish import manifest as manifests
from modelexport_exporter.publish.clean_up import delete_unnamed, directories, remaining
from modelexport_exporter.publish.contents import is_whole, place_plain_names
from modelexport_exporter.publish.layout import (
    MODEL_NAME,
    content_name,
    is_ours,
    promotion_order,
    published_name,
)
from modelexport_exporter.publish.manifest import (
    MANIFEST_NAME,
    Content,
    Decision,
    Found,
    Manifest,
    Work,
)
from modelexport_exporter.storage.store import (
    ConditionFailedError,
    Location,
    OnBytes,
    Origin,
    Pending,
)

STAGING_NAME = ".staging"
FAILED_NAME = "failed"
_MARKER_NAME = "marker"
_ATTEMPTS = 3


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
        if found is None or found.manifest is None or is_whole(self.destination, found.manifest):
            return found
        return Found(found.etag, None, broken=found.manifest)

    def _read(self) -> Found | None:
        answer = self.destination.store.read(self.destination.child(MANIFEST_NAME).key)
        if answer is None:
            return None
        content, stored = answer
        return Found(stored.etag, manifests.parse(content))

    def _in_force(self) -> Manifest | None:
        found = self._read()
        return found.manifest if found else None

    def check_unclaimed(self) -> None:
        """For overwrite Never: fail where a model.onnx of another writer has no manifest."""
        model = self.destination.child(published_name(self.layout, MODEL_NAME))
        if model.store.stat(model.key) is not None:
            raise destination_taken(model.uri)

    def open(self) -> None:
        """Find out that the destination can be written before anything is computed for it."""
        self._own.store.write(self._own.child(_MARKER_NAME).key, b"")

    @property
    def is_local(self) -> bool:
        """Return whether the destination is a directory of this machine."""
        return self.destination.store.local_path(self.destination.key) is not None

    def stage(
        self, path: Path, file: WrittenFile, on_bytes: OnBytes, *, alone: bool = False
    ) -> None:
        """Bring a file to where no reader looks; it will appear under the name of its content.

        `alone`: whether no other process has it open.
        """
        name = published_name(self.layout, file.name)
        target = self.destination.child(content_name(name, file.sha256)).key
        self.staged[name] = self.destination.store.stage(
            path, target, self._own.key, on_bytes, file.sha256, alone=alone
        )

    def stage_copy(self, origin: Origin, file: WrittenFile, on_bytes: OnBytes) -> bool:
        """Let the store copy an object that is such a file; return whether it can."""
        name = published_name(self.layout, file.name)
        target = self.destination.child(content_name(name, file.sha256)).key
        pending = self.destination.store.stage_copy(origin, target, on_bytes, file.sha256)
        if pending is not None:
            self.staged[name] = pending
        return pending is not None

    def commit(self, claim: Claim) -> Manifest:
        """Make the staged files the artifact; return the manifest that is in force now.

        That is another's where the same work was published in the meantime. Raises ExportFailure.
        """
        current = self.find()
        if current is not None and current != claim.previous:
            return self._theirs(claim, current)
        manifest = self._with_contents(claim.manifest)
        for _ in range(_ATTEMPTS):
            if self._write_manifest(manifest, current):
                return self.repair(manifest)
            current = self.find()
            if current is not None:
                # Ours: the answer to the first of two identical requests was lost.
                is_ours = current.manifest == manifest
                return self.repair(manifest) if is_ours else self._theirs(claim, current)
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
        return self.repair(current.manifest)

    def _with_contents(self, manifest: Manifest) -> Manifest:
        """Make the staged files appear; return the manifest with their places."""
        digests = {file.name: file.sha256 for file in manifest.artifact.files}
        contents = {
            name: Content(
                path=content_name(name, digests[name]), etag=self.staged.pop(name).publish()
            )
            for name in promotion_order(self.staged)
        }
        superseded = remaining(self.destination, manifest.superseded, manifest.created)
        return manifest.model_copy(update={"contents": contents, "superseded": superseded})

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

    def repair(self, manifest: Manifest) -> Manifest:
        """Put the files of an artifact under their plain names where they are not; return it."""
        place_plain_names(self.destination, manifest, self._in_force)
        return manifest

    def tidy(self) -> None:
        """Delete what the manifest in force does not name, and what was staged for this resource.

        Raises ExportFailure.
        """
        manifest = self._in_force()
        if manifest is None:
            return
        delete_unnamed(self.destination, manifest)
        own = directories(manifest)
        self.destination.store.discard_staged(
            self.destination.key,
            lambda name: is_ours(name) and name[: name.rfind("/") + 1] in own,
            self._staging.key,
        )

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
