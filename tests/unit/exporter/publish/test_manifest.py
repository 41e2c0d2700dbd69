from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from modelexport_api.spec import Layout, Overwrite
from modelexport_api.status import Artifact, ArtifactFile, Verdict, VerificationResult
from modelexport_exporter.publish.clean_up import is_due
from modelexport_exporter.publish.layout import content_name
from modelexport_exporter.publish.manifest import (
    Content,
    Decision,
    Found,
    Manifest,
    ManifestResource,
    ManifestSource,
    SupersededFile,
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


NOW = datetime(2026, 2, 1, tzinfo=UTC)
DIGEST = "0123456789abcdef" * 4
DATA = "model.0123456789ab.data"
MODEL, REPORT = content_name("model.onnx", DIGEST), content_name("report.json", DIGEST)


def file(name: str) -> ArtifactFile:
    return ArtifactFile(name=name, sha256=DIGEST, size_bytes=1)


def with_files(*names: str, **fields: object) -> Manifest:
    artifact = manifest().artifact.model_copy(update={"files": [file(name) for name in names]})
    paths = {name: Content(path=content_name(name, DIGEST), etag="e") for name in names}
    update = {"artifact": artifact, "contents": paths, **fields}
    return manifest().model_copy(update=update)


def test_a_successor_remembers_what_it_leaves_behind() -> None:
    """Contents with the time from which on nobody begins to read them; plain names without."""
    left = superseded(with_files("model.onnx", DATA), [file("1/model.onnx")], NOW)
    assert {found.name: found.since for found in left} == {
        "model.onnx": None,
        MODEL: NOW,
        DATA: NOW,
    }


def test_what_a_predecessor_had_not_deleted_yet_keeps_its_time() -> None:
    earlier = datetime(2026, 1, 1, tzinfo=UTC)
    old = SupersededFile(name="model.00000000000a.data", sha256="d", size_bytes=1, since=earlier)
    before = with_files("report.json", superseded=[old])
    assert superseded(before, [file("report.json")], NOW) == [old]
    assert superseded(None, [file("model.onnx")], NOW) == []


def test_a_content_that_is_named_again_is_not_left_behind() -> None:
    old = SupersededFile(name=MODEL, sha256=DIGEST, size_bytes=1, since=NOW)
    assert superseded(with_files(superseded=[old]), [file("model.onnx")], NOW) == []


def test_files_of_an_earlier_version_s_manifest_are_at_their_names() -> None:
    assert with_files("model.onnx", contents={}).path("model.onnx") == "model.onnx"
    assert with_files("model.onnx").path("model.onnx") == MODEL


@pytest.mark.parametrize(
    ("name", "path"),
    [("model.onnx", "model.onnx"), ("model.onnx", MODEL), ("report.json", REPORT), (DATA, DATA)],
)
def test_names_of_an_artifact_are_ours(name: str, path: str) -> None:
    read = with_files(name, contents={name: Content(path=path, etag="e")})
    assert parse(read.model_dump_json(by_alias=True).encode()) == read


@pytest.mark.parametrize(
    ("name", "path"),
    [
        ("../model.onnx", "../model.onnx"),
        ("labels.txt", "labels.txt"),
        ("model.onnx", "../secret"),
        ("model.onnx", content_name("model.onnx", "f" * 64)),
    ],
)
def test_a_manifest_of_other_names_is_foreign(name: str, path: str) -> None:
    """Files are copied from and to what it names."""
    written = with_files(name, contents={name: Content(path=path, etag="e")})
    assert parse(written.model_dump_json(by_alias=True).encode()) is None


def test_a_manifest_survives_being_written() -> None:
    text = manifest().model_dump_json(by_alias=True, exclude_none=True)
    assert parse(text.encode()) == manifest()


@pytest.mark.parametrize("content", [b"", b"{}", b"not json", b'{"manifestVersion": 2}', b"\xff"])
def test_anything_else_is_foreign(content: bytes) -> None:
    assert parse(content) is None


@pytest.mark.parametrize("verdict", [own for own in Verdict if own is not Verdict.VERIFIED])
def test_a_manifest_of_what_did_not_verify_is_foreign(verdict: Verdict) -> None:
    """It would be the answer to the same work."""
    forged = manifest()
    wrong = forged.verification.model_copy(update={"verdict": verdict})
    text = forged.model_copy(update={"verification": wrong}).model_dump_json(by_alias=True)
    assert parse(text.encode()) is None


def test_times_without_a_zone_can_be_compared() -> None:
    text = '{"name": "model.onnx", "sha256": "d", "sizeBytes": 1, "since": "2026-01-01T00:00:00"}'
    old = SupersededFile.model_validate_json(text)
    assert is_due(old, NOW + timedelta(days=9999))
    assert not is_due(old, datetime(2026, 1, 1, 0, 30, tzinfo=UTC))
