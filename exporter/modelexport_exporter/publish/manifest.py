"""manifest.json: what was published, from what, and how it was proved.

It is written last, so it is what makes an artifact exist; and it is read first, so that work which
is done already is recognised. `decide` is the whole policy of `destination.overwrite`, and pure.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import Enum
from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from modelexport_api.base import ApiModel
from modelexport_api.spec import Layout, Overwrite
from modelexport_api.status import Artifact, ArtifactFile, Verdict, VerificationResult
from modelexport_exporter.publish.layout import content_name, is_ours

MANIFEST_NAME = "manifest.json"


def _in_utc(moment: datetime) -> datetime:
    return moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)


Moment = Annotated[datetime, AfterValidator(_in_utc)]
"""A time that can be compared with others, also where a manifest states no zone."""


class ManifestSource(ApiModel):
    """The checkpoint that the artifact was made from."""

    uri: str
    fingerprint: str
    """Changes when the stored object may have changed; known before it is downloaded."""
    sha256: str
    files: list[ArtifactFile]


class ManifestResource(ApiModel):
    """The ModelExport that requested it."""

    name: str
    namespace: str | None = None
    uid: str | None = None


class Content(ApiModel):
    """Where the bytes of a published file are, under a name that no other bytes ever have."""

    path: str
    etag: str
    """Of the store: as long as it stays, so do the bytes."""


class SupersededFile(ArtifactFile):
    """A file of an earlier artifact that may still be there."""

    since: Moment | None = None
    """When another content took its place; readers of the earlier manifest have a while."""


class Manifest(ApiModel):
    """The content of manifest.json."""

    manifest_version: Literal[1] = 1
    created: Moment
    resource: ManifestResource
    source: ManifestSource
    spec_sha256: str
    layout: Layout = Layout.PLAIN
    signed_by: str | None = None
    """The id of the key that signed the provenance statement."""
    artifact: Artifact
    verification: VerificationResult
    contents: dict[str, Content] = Field(default_factory=dict)
    """Of each file by its name; manifests of earlier versions have none."""
    superseded: list[SupersededFile] = Field(default_factory=list)
    """Files of earlier artifacts that may still be there: cleaning up deletes them."""

    def path(self, name: str) -> str:
        """Return where a reader finds a file of this artifact, whatever is published later."""
        return self.contents[name].path if name in self.contents else name


@dataclass(frozen=True)
class Found:
    """A manifest at the destination."""

    etag: str
    manifest: Manifest | None
    """None: the file is there but is no manifest of ours, or not all of its files are."""
    broken: Manifest | None = None
    """The manifest whose files are not all there; it still names which ones were ours."""


@dataclass(frozen=True)
class Work:
    """What is requested, as far as it is known; `source_sha256` only after the download."""

    resource_uid: str | None
    fingerprint: str
    spec_sha256: str
    source_sha256: str | None = None
    layout: Layout = Layout.PLAIN
    signed_by: str | None = None


class Decision(Enum):
    """What to do about the artifact at the destination."""

    EXPORT = "export"
    REUSE = "reuse"
    """The same work was done: its result is the answer."""
    REFUSE = "refuse"
    COMPARE_CONTENT = "compare content"
    """The same spec, but the source may have changed: its digest decides."""


def parse(content: bytes) -> Manifest | None:
    """Return the manifest in a file, None where it is none of ours: those are of verified files."""
    try:
        manifest = Manifest.model_validate_json(content)
    except ValueError:
        return None
    is_verified = manifest.verification.verdict is Verdict.VERIFIED
    return manifest if is_verified and _names_only_ours(manifest) else None


def _names_only_ours(manifest: Manifest) -> bool:
    """Return whether its names are of an artifact: files are copied from and to them."""
    return all(
        is_ours(file.name)
        and manifest.path(file.name) in {file.name, content_name(file.name, file.sha256)}
        for file in manifest.artifact.files
    )


def superseded(
    previous: Manifest | None, files: Iterable[ArtifactFile], now: datetime
) -> list[SupersededFile]:
    """Return the files that a manifest spoke of, but for those of its successor.

    Kept in the successor, so that a process that dies before it deleted them leaves a note.
    """
    if previous is None:
        return []
    known = {file.name: file for file in previous.superseded}
    for file in previous.artifact.files:
        names = {"sha256": file.sha256, "size_bytes": file.size_bytes}
        known[file.name] = SupersededFile(name=file.name, **names)
        path = previous.path(file.name)
        known[path] = SupersededFile(name=path, since=now, **names)
    kept = {name for file in files for name in (file.name, content_name(file.name, file.sha256))}
    return [file for name, file in sorted(known.items()) if name not in kept]


def decide(overwrite: Overwrite, found: Found | None, work: Work) -> Decision:
    """Return what to do about the artifact at the destination."""
    if found is None:
        return Decision.EXPORT
    sameness = _compare(found.manifest, work)
    if overwrite is Overwrite.ALWAYS:
        # A pod that was killed after it had published must not do it all again.
        mine = found.manifest is not None and work.resource_uid is not None
        mine = mine and found.manifest.resource.uid == work.resource_uid  # type: ignore[union-attr]
        return Decision.REUSE if mine and sameness is Decision.REUSE else Decision.EXPORT
    if sameness is Decision.EXPORT and overwrite is Overwrite.NEVER:
        return Decision.REFUSE
    return sameness


def _compare(manifest: Manifest | None, work: Work) -> Decision:
    if manifest is None or manifest.spec_sha256 != work.spec_sha256:
        return Decision.EXPORT
    if (manifest.layout, manifest.signed_by) != (work.layout, work.signed_by):
        return Decision.EXPORT
    if work.source_sha256 is not None:
        same = manifest.source.sha256 == work.source_sha256
        return Decision.REUSE if same else Decision.EXPORT
    if manifest.source.fingerprint == work.fingerprint:
        return Decision.REUSE
    return Decision.COMPARE_CONTENT
