"""`modelexport verify` runs a manifest of any mode in mode Verify."""

from __future__ import annotations

from pathlib import Path

import pytest

from modelexport_api.resource import ManifestError, parse
from modelexport_api.spec import Mode
from modelexport_cli.export_options import uri_of
from modelexport_cli.verify import as_verification
from unit.api.manifests import VALID


def test_mode_verify_replaces_the_mode_of_the_manifest() -> None:
    verification = as_verification(parse(VALID), None)
    assert verification.spec.mode is Mode.VERIFY
    assert verification.spec.artifact is None
    assert verification.spec.inputs == parse(VALID).spec.inputs


def test_the_flag_replaces_the_artifact() -> None:
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
def test_a_path_becomes_a_file_uri(text: str, uri: str) -> None:
    assert uri_of(text) == uri


def test_a_relative_path_starts_at_the_working_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert uri_of("m.onnx") == f"file://{tmp_path}/m.onnx"


def test_an_unsupported_uri_is_rejected() -> None:
    with pytest.raises(ManifestError, match=r"--artifact https://host/m\.onnx"):
        as_verification(parse(VALID), "https://host/m.onnx")
