from __future__ import annotations

from datetime import UTC, datetime

import pytest

from modelexport_api.spec import Layout, Overwrite
from modelexport_api.status import Artifact, ArtifactFile, Verdict, VerificationResult
from modelexport_exporter.publish.manifest import (
    Decision,
    Found,
    Manifest,
    ManifestResource,
    ManifestSource,
    Work,
    decide,
    parse,
    superseded,
)

EXPORT, REUSE, REFUSE = Decision.EXPORT, Decision.REUSE, Decision.REFUSE
COMPARE = Decision.COMPARE_CONTENT
SAME = Work("uid", "fingerprint", "spec")
OTHER_SPEC = Work("uid", "fingerprint", "other spec")
OTHER_ETAG = Work("uid", "other", "spec")
SAME_CONTENT = Work("uid", "other", "spec", "content")
OTHER_CONTENT = Work("uid", "other", "spec", "other content")
OTHER_RESOURCE = Work("other uid", "fingerprint", "spec")
LOCAL = Work(None, "fingerprint", "spec")
OTHER_LAYOUT = Work("uid", "fingerprint", "spec", layout=Layout.TRITON)
SIGNED = Work("uid", "fingerprint", "spec", signed_by="key")


def manifest() -> Manifest:
    return Manifest(
        created=datetime(2026, 1, 1, tzinfo=UTC),
        resource=ManifestResource(name="m", uid="uid"),
        source=ManifestSource(
            uri="s3://a/b", fingerprint="fingerprint", sha256="content", files=[]
        ),
        spec_sha256="spec",
        artifact=Artifact(
            uri="u",
            sha256="d",
            size_bytes=1,
            opset=20,
            ir_version=10,
            exporter="e",
            inputs=[],
            outputs=[],
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


OURS = Found("etag", manifest())
FOREIGN = Found("etag", None)


@pytest.mark.parametrize(
    ("found", "work", "if_changed", "always", "never"),
    [
        pytest.param(None, SAME, EXPORT, EXPORT, EXPORT, id="nothing there"),
        pytest.param(OURS, SAME, REUSE, REUSE, REUSE, id="same work, same resource"),
        pytest.param(OURS, OTHER_RESOURCE, REUSE, EXPORT, REUSE, id="same work, other resource"),
        pytest.param(OURS, LOCAL, REUSE, EXPORT, REUSE, id="same work, run locally"),
        pytest.param(OURS, OTHER_SPEC, EXPORT, EXPORT, REFUSE, id="other spec"),
        pytest.param(OURS, OTHER_ETAG, COMPARE, EXPORT, COMPARE, id="source written again"),
        pytest.param(OURS, SAME_CONTENT, REUSE, REUSE, REUSE, id="source with the same content"),
        pytest.param(OURS, OTHER_CONTENT, EXPORT, EXPORT, REFUSE, id="source with other content"),
        pytest.param(OURS, OTHER_LAYOUT, EXPORT, EXPORT, REFUSE, id="other layout"),
        pytest.param(OURS, SIGNED, EXPORT, EXPORT, REFUSE, id="not signed by this key"),
        pytest.param(FOREIGN, SAME, EXPORT, EXPORT, REFUSE, id="not our manifest"),
    ],
)
def test_overwrite(
    found: Found | None, work: Work, if_changed: Decision, always: Decision, never: Decision
) -> None:
    assert decide(Overwrite.IF_CHANGED, found, work) is if_changed
    assert decide(Overwrite.ALWAYS, found, work) is always
    assert decide(Overwrite.NEVER, found, work) is never


def file(name: str, size: int = 1) -> ArtifactFile:
    return ArtifactFile(name=name, sha256="d", size_bytes=size)


def test_a_successor_remembers_what_it_leaves_behind() -> None:
    """Also what its predecessor had not deleted yet, in case it never came to it."""
    artifact = manifest().artifact.model_copy(update={"files": [file("1/model.onnx"), file("r")]})
    before = manifest().model_copy(
        update={"artifact": artifact, "superseded": [file("old.data"), file("model.onnx", 9)]}
    )
    assert superseded(before, ["model.onnx", "r"]) == [file("1/model.onnx"), file("old.data")]
    assert superseded(None, ["model.onnx"]) == []


def test_a_manifest_survives_being_written() -> None:
    text = manifest().model_dump_json(by_alias=True, exclude_none=True)
    assert parse(text.encode()) == manifest()


@pytest.mark.parametrize("content", [b"", b"{}", b"not json", b'{"manifestVersion": 2}', b"\xff"])
def test_anything_else_is_foreign(content: bytes) -> None:
    assert parse(content) is None
