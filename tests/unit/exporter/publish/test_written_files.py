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
from modelexport_exporter.publish.written_files import check_names, take

DIGEST = "0123456789ab" * 5 + "0123"
DATA = f"model.{DIGEST[:12]}.data"


def named(*names: str) -> tuple[WrittenFile, ...]:
    return tuple(WrittenFile(name, 1, DIGEST) for name in names)


def written(directory: Path) -> WrittenFile:
    (directory / "model.onnx").write_bytes(b"graph")
    return WrittenFile("model.onnx", 5, hashlib.sha256(b"graph").hexdigest())


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
        ("model.onnx", "model.ab0123456789.data"),
    ],
)
def test_other_names(names: tuple[str, ...]) -> None:
    with pytest.raises(ExportFailure) as caught:
        check_names(named(*names))
    assert caught.value.reason is Reason.WORKER_ANSWER_INVALID


def test_what_was_written_is_copied(tmp_path: Path) -> None:
    file, copy = written(tmp_path), tmp_path / "copy"
    with (tmp_path / "model.onnx").open("r+b") as held:
        take(tmp_path, file, copy)
        held.write(b"other")
    assert copy.read_bytes() == b"graph"


def _replace(path: Path, make: Callable[[Path], object]) -> None:
    path.unlink()
    make(path)


def test_what_nobody_else_has_is_moved(tmp_path: Path) -> None:
    file, moved = written(tmp_path), tmp_path / "moved"
    inode = (tmp_path / "model.onnx").stat().st_ino
    take(tmp_path, file, moved, alone=True)
    assert moved.stat().st_ino == inode
    assert not (tmp_path / "model.onnx").exists()


def test_what_has_a_second_name_is_copied(tmp_path: Path) -> None:
    file, copy, cache = written(tmp_path), tmp_path / "copy", tmp_path / "cache"
    cache.hardlink_to(tmp_path / "model.onnx")
    take(tmp_path, file, copy, alone=True)
    cache.write_bytes(b"other")
    assert copy.read_bytes() == b"graph"


@pytest.mark.parametrize("alone", [False, True])
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
def test_a_changed_file(
    change: Callable[[Path], object], found: str, alone: bool, tmp_path: Path
) -> None:
    file = written(tmp_path)
    change(tmp_path / "model.onnx")
    with pytest.raises(ExportFailure, match=found) as caught:
        take(tmp_path, file, tmp_path / "copy", alone=alone)
    assert caught.value.reason is Reason.ARTIFACT_CHANGED


def test_a_directory_that_became_a_link(tmp_path: Path) -> None:
    real, link = tmp_path / "real", tmp_path / "link"
    real.mkdir()
    file = written(real)
    link.symlink_to(real)
    with pytest.raises(ExportFailure, match="cannot be opened"):
        take(link, file, tmp_path / "copy")
