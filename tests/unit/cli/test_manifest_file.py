from __future__ import annotations

from pathlib import Path

import pytest

from modelexport_api.resource import ManifestError
from modelexport_cli.manifest_file import absolute, read_manifest, resolve

HERE = Path("/home/me/a model")


@pytest.mark.parametrize(
    ("uri", "found"),
    [
        ("file://./w.pt", "file:///home/me/a%20model/w.pt"),
        ("file://./out/", "file:///home/me/a%20model/out/"),
        ("file://./../../w.pt", "file:///home/w.pt"),
        ("file://./", "file:///home/me/a%20model/"),
        ("file:///abs/w.pt", "file:///abs/w.pt"),
        ("s3://bucket/./x", "s3://bucket/./x"),
    ],
)
def test_only_relative_file_uris_are_resolved(uri: str, found: str) -> None:
    assert absolute(uri, HERE) == found


def test_only_uri_fields_are_resolved() -> None:
    spec = {
        "source": {"uri": "file://./w.pt"},
        "model": {"kwargs": {"path": "file://./x"}, "code": {"uri": "file://./code/"}},
    }
    assert resolve(spec, Path("/m")) == {
        "source": {"uri": "file:///m/w.pt"},
        "model": {"kwargs": {"path": "file://./x"}, "code": {"uri": "file:///m/code/"}},
    }


def test_every_uri_of_a_list_is_resolved() -> None:
    spec = {"source": {"uris": ["file://./a.pt", "s3://b/c.pt"]}}
    found = resolve(spec, Path("/m"))
    assert found == {"source": {"uris": ["file:///m/a.pt", "s3://b/c.pt"]}}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("spec: [unclosed", "is not YAML"),
        ("\tspec: 1", "line 1, column 1: found a tab"),
        ("spec: &again {spec: *again}", "its aliases stand for more than"),
        ("spec: " + "[" * 5000, "nested too deeply"),
        ("a: 1\n---\nb: 2", "found 2"),
    ],
    ids=["unclosed", "a tab", "a cycle", "deep", "two documents"],
)
def test_an_invalid_manifest_is_reported_with_its_path(
    tmp_path: Path, text: str, words: str
) -> None:
    path = tmp_path / "m.yaml"
    path.write_text(text)
    with pytest.raises(ManifestError, match=words) as caught:
        read_manifest(path)
    assert str(path) in str(caught.value)


def test_a_file_that_no_api_server_takes_is_not_read_whole(tmp_path: Path) -> None:
    text, checkpoint = tmp_path / "m.yaml", tmp_path / "model.pt"
    with text.open("wb") as file:
        file.write(b"# long\n")
        file.truncate(1 << 40)
    with pytest.raises(ManifestError, match="more than 3,145,728 bytes"):
        read_manifest(text)
    with checkpoint.open("wb") as file:
        file.write(b"\x80\x02")
        file.truncate(1 << 40)
    with pytest.raises(ManifestError, match="without a manifest: modelexport export"):
        read_manifest(checkpoint)
