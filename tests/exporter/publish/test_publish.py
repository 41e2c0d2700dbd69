"""Two processes that publish to one place: whoever is late, the end state is whole."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from modelexport_api.reasons import Reason
from modelexport_api.status import Artifact, ArtifactFile, Verdict, VerificationResult
from modelexport_exporter.core.errors import ExportFailure
from modelexport_exporter.publish.manifest import Manifest, ManifestResource, ManifestSource, Work
from modelexport_exporter.publish.publish import Claim, Publication
from modelexport_exporter.storage.store import Location

Place = Callable[..., Location]


class Pod:
    """One process on its way to publish one file."""

    def __init__(self, place: Place, tmp_path: Path, content: str, spec: str = "spec") -> None:
        self.place = place
        self.content = content.encode()
        self.publication = Publication(place("out/"), "m-0")
        self.previous = self.publication.find()
        self.publication.open()
        path = tmp_path / "model.onnx"
        path.write_bytes(self.content)
        self.publication.stage(path, "model.onnx", lambda _moved: None)
        path.unlink()
        self.spec = spec

    def commit(self) -> Manifest:
        work = Work(None, "fingerprint", self.spec)
        return self.publication.commit(Claim(self.manifest(), work, self.previous))

    def manifest(self) -> Manifest:
        digest = hashlib.sha256(self.content).hexdigest()
        size = len(self.content)
        return Manifest(
            created=datetime.now(UTC),
            resource=ManifestResource(name="m"),
            source=ManifestSource(uri="u", fingerprint="fingerprint", sha256="s", files=[]),
            spec_sha256=self.spec,
            artifact=Artifact(
                uri="u",
                sha256=digest,
                size_bytes=size,
                opset=20,
                ir_version=10,
                exporter="e",
                inputs=[],
                outputs=[],
                files=[ArtifactFile(name="model.onnx", sha256=digest, size_bytes=size)],
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


def check_whole(place: Place) -> bytes:
    """The manifest speaks of the model.onnx that is there."""
    manifest, model = place("out/manifest.json"), place("out/model.onnx")
    answer, content = manifest.store.read(manifest.key), model.store.read(model.key)
    assert answer is not None
    assert content is not None
    sha256 = json.loads(answer[0])["artifact"]["sha256"]
    assert sha256 == hashlib.sha256(content[0]).hexdigest()
    return content[0]


def test_the_late_one_takes_the_result_of_the_same_work(place: Place, tmp_path: Path) -> None:
    early, late = Pod(place, tmp_path, "early"), Pod(place, tmp_path, "late")
    published = early.commit()
    assert late.commit() == published
    assert check_whole(place) == b"early"


def test_the_late_one_leaves_other_work_alone(place: Place, tmp_path: Path) -> None:
    early, late = Pod(place, tmp_path, "early"), Pod(place, tmp_path, "late", spec="other")
    early.commit()
    with pytest.raises(ExportFailure) as caught:
        late.commit()
    assert caught.value.reason is Reason.DESTINATION_EXISTS
    assert check_whole(place) == b"early"


def test_a_manifest_that_appears_between_files_and_manifest_is_replaced(
    place: Place, tmp_path: Path
) -> None:
    """Its files were overwritten a moment ago, so it would lie about them."""
    early, late = Pod(place, tmp_path, "early"), Pod(place, tmp_path, "late")
    promote = late.publication._promote

    def promote_while_the_other_publishes() -> dict[str, str | None]:
        early.publication._promote()
        moved = promote()
        early.publication._write_manifest(early.manifest(), None)
        return moved

    late.publication._promote = promote_while_the_other_publishes  # type: ignore[method-assign]
    assert late.commit().artifact.sha256 == late.manifest().artifact.sha256
    assert check_whole(place) == b"late"


def test_a_manifest_whose_files_came_last_stays(place: Place, tmp_path: Path) -> None:
    early, late = Pod(place, tmp_path, "early"), Pod(place, tmp_path, "late")
    promote = late.publication._promote

    def promote_before_the_other_publishes() -> dict[str, str | None]:
        moved = promote()
        early.publication._promote()
        early.publication._write_manifest(early.manifest(), None)
        return moved

    late.publication._promote = promote_before_the_other_publishes  # type: ignore[method-assign]
    assert late.commit().artifact.sha256 == early.manifest().artifact.sha256
    assert check_whole(place) == b"early"
