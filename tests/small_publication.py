"""A process on its way to publish a small artifact, and a reader that follows its manifest."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from modelexport_api.spec import Overwrite
from modelexport_api.status import Artifact, ArtifactFile, Verdict, VerificationResult
from modelexport_exporter.core.types import WrittenFile
from modelexport_exporter.publish.manifest import (
    Decision,
    Found,
    Manifest,
    ManifestResource,
    ManifestSource,
    Work,
    decide,
)
from modelexport_exporter.publish.publish import Claim, Publication
from modelexport_exporter.storage.store import Location

Place = Callable[..., Location]
MODEL = "model.onnx"


@dataclass
class Pod:
    """Publishes one file."""

    destination: Location
    directory: Path
    content: str
    spec: str = "spec"
    resource: str = "m-0"
    previous: Found | None = None

    def __post_init__(self) -> None:
        self.publication = Publication(self.destination, self.resource)

    def begin(self) -> None:
        """Look at the destination, and stage the file."""
        self.previous = self.publication.find()
        path = self.directory / f"{self.content}-{MODEL}"
        path.write_bytes(self.content.encode())
        self.publication.stage(path, WrittenFile(MODEL, len(self.content), self.digest), _ignore)

    @property
    def digest(self) -> str:
        return hashlib.sha256(self.content.encode()).hexdigest()

    def commit(self) -> Manifest:
        return self.publication.commit(Claim(self.manifest(), self.work, self.previous))

    @property
    def work(self) -> Work:
        return Work(None, "fingerprint", self.spec)

    def run(self) -> None:
        """What a run does to its destination, but for deleting what is old."""
        self.begin()
        decision = decide(Overwrite.IF_CHANGED, self.previous, self.work)
        if decision is Decision.REUSE and self.previous and self.previous.manifest:
            self.publication.repair(self.previous.manifest)
        else:
            self.commit()

    def manifest(self) -> Manifest:
        size = len(self.content)
        return Manifest(
            created=datetime.now(UTC),
            resource=ManifestResource(name=self.content),
            source=ManifestSource(uri="u", fingerprint="fingerprint", sha256="s", files=[]),
            spec_sha256=self.spec,
            artifact=Artifact(
                uri="u",
                sha256=self.digest,
                size_bytes=size,
                opset=20,
                ir_version=10,
                exporter="e",
                inputs=[],
                outputs=[],
                files=[ArtifactFile(name=MODEL, sha256=self.digest, size_bytes=size)],
            ),
            verification=VerificationResult(
                verdict=Verdict.VERIFIED,
                provider="CPU",
                samples=1,
                max_abs_error=0,
                max_rel_error=0,
                tolerance_source="Default",
            ),
        )


def _ignore(_moved: int) -> None:
    """Nobody watches."""


def followed(destination: Location) -> bytes | None:
    """The model that the manifest names, which is whole; None without a manifest."""
    answer = destination.store.read(destination.child("manifest.json").key)
    if answer is None:
        return None
    manifest = json.loads(answer[0])
    (file,) = manifest["artifact"]["files"]
    where = destination.child(manifest["contents"][file["name"]]["path"])
    content = where.store.read(where.key)
    assert content is not None, "the manifest names what is not there"
    assert hashlib.sha256(content[0]).hexdigest() == file["sha256"]
    return content[0]


def plain(destination: Location) -> bytes | None:
    """What is under the plain name."""
    where = destination.child(MODEL)
    answer = where.store.read(where.key)
    return answer[0] if answer else None
