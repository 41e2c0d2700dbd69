"""A worker's files: names, links, kinds, bytes."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from modelexport_api.reasons import Reason
from modelexport_exporter.core.errors import ExportFailure
from modelexport_exporter.core.types import WrittenFile
from modelexport_exporter.publish.written_files import check_names, check_unchanged, write_new

DATA = "model.0123456789ab.data"


def named(*names: str) -> tuple[WrittenFile, ...]:
    return tuple(WrittenFile(name, 1, "") for name in names)


def written(directory: Path) -> tuple[WrittenFile, ...]:
    (directory / "model.onnx").write_bytes(b"graph")
    return (WrittenFile("model.onnx", 5, hashlib.sha256(b"graph").hexdigest()),)


@pytest.mark.parametrize("names", [("model.onnx",), (DATA, "model.onnx")])
def test_a_model_and_its_data(names: tuple[str, ...]) -> None:
    check_names(named(*names))


@pytest.mark.parametrize(
    "names",
    [
        (),
        (DATA,),
        ("model.onnx", "model.onnx"),
        ("model.onnx", "../model.onnx"),
        ("model.onnx", "/etc/passwd"),
        ("model.onnx", "manifest.json"),
        ("model.onnx", "report.json"),
        ("model.onnx", "1/model.onnx"),
        ("model.onnx", f"{DATA}\n"),
        ("model.onnx", "a\0b"),
        ("model.onnx", DATA, DATA),
    ],
)
def test_other_names(names: tuple[str, ...]) -> None:
    with pytest.raises(ExportFailure) as caught:
        check_names(named(*names))
    assert caught.value.reason is Reason.WORKER_ANSWER_INVALID


def test_what_was_written_is_unchanged(tmp_path: Path) -> None:
    check_unchanged(tmp_path, written(tmp_path))


def _replace(path: Path, make: Callable[[Path], object]) -> None:
    path.unlink()
    make(path)


@pytest.mark.parametrize(
    ("change", "found"),
    [
        (lambda path: path.write_bytes(b"other"), "SHA-256"),
        (lambda path: path.write_bytes(b"longer"), "6 bytes"),
        (lambda path: path.unlink(), "No such file"),
        (
            lambda path: _replace(path, lambda it: it.symlink_to("/etc/hostname")),
            "cannot be opened",
        ),
        (lambda path: _replace(path, os.mkfifo), "no regular file"),
        (lambda path: _replace(path, Path.mkdir), "no regular file"),
    ],
    ids=["bytes", "size", "gone", "link", "pipe", "directory"],
)
def test_a_changed_file(change: Callable[[Path], object], found: str, tmp_path: Path) -> None:
    files = written(tmp_path)
    change(tmp_path / "model.onnx")
    with pytest.raises(ExportFailure, match=found) as caught:
        check_unchanged(tmp_path, files)
    assert caught.value.reason is Reason.ARTIFACT_CHANGED


def test_a_directory_that_became_a_link(tmp_path: Path) -> None:
    real, link = tmp_path / "real", tmp_path / "link"
    real.mkdir()
    files = written(real)
    link.symlink_to(real)
    with pytest.raises(ExportFailure, match="cannot be opened"):
        check_unchanged(link, files)


def test_a_document_replaces_a_link_and_not_its_target(tmp_path: Path) -> None:
    target, path = tmp_path / "target", tmp_path / "report.json"
    target.write_bytes(b"mine")
    path.symlink_to(target)
    write_new(path, b"{}")
    assert target.read_bytes() == b"mine"
    assert path.read_bytes() == b"{}"
    assert not path.is_symlink()
