"""`modelexport verify` asks of any manifest what mode Verify does."""

from __future__ import annotations

from pathlib import Path

import pytest

from modelexport_api.resource import ManifestError, parse
from modelexport_api.spec import Mode
from modelexport_cli.verify import as_verification, uri_of
from unit.api.manifests import VALID


def test_any_manifest_becomes_a_verification() -> None:
    asked = as_verification(parse(VALID), None)
    assert asked.spec.mode is Mode.VERIFY
    assert asked.spec.artifact is None
    assert asked.spec.inputs == parse(VALID).spec.inputs


def test_another_artifact_is_named() -> None:
    artifact = as_verification(parse(VALID), "s3://b/foreign.onnx").spec.artifact
    assert artifact is not None
    assert artifact.uri == "s3://b/foreign.onnx"


@pytest.mark.parametrize(
    ("text", "uri"),
    [
        ("s3://b/m.onnx", "s3://b/m.onnx"),
        ("file:///m.onnx", "file:///m.onnx"),
        ("/a b/m.onnx", "file:///a%20b/m.onnx"),
    ],
)
def test_paths_are_taken_as_paths(text: str, uri: str) -> None:
    assert uri_of(text) == uri


def test_a_relative_path_starts_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert uri_of("m.onnx") == f"file://{tmp_path}/m.onnx"


def test_a_uri_that_nobody_serves_is_refused() -> None:
    with pytest.raises(ManifestError, match=r"--artifact https://host/m\.onnx"):
        as_verification(parse(VALID), "https://host/m.onnx")
