from __future__ import annotations

from pathlib import Path

import pytest

from modelexport_cli.manifest_file import absolute, resolve

HERE = Path("/home/me/a model")


@pytest.mark.parametrize(
    ("uri", "found"),
    [
        ("file://./w.pt", "file:///home/me/a%20model/w.pt"),
        ("file://./out/", "file:///home/me/a%20model/out/"),
        ("file:///abs/w.pt", "file:///abs/w.pt"),
        ("s3://bucket/./x", "s3://bucket/./x"),
    ],
)
def test_only_relative_file_uris_change(uri: str, found: str) -> None:
    assert absolute(uri, HERE) == found


def test_only_values_of_uri_change() -> None:
    spec = {
        "source": {"uri": "file://./w.pt"},
        "model": {"kwargs": {"path": "file://./x"}, "code": {"uri": "file://./code/"}},
    }
    assert resolve(spec, Path("/m")) == {
        "source": {"uri": "file:///m/w.pt"},
        "model": {"kwargs": {"path": "file://./x"}, "code": {"uri": "file:///m/code/"}},
    }
