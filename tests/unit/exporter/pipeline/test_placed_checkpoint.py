"""A worker names files of the checkpoint; the supervisor's own digests decide."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from pathlib import Path

import pytest

from modelexport_api.reasons import Reason
from modelexport_exporter.core.errors import ExportFailure
from modelexport_exporter.core.types import (
    ConvertedModel,
    PointedFile,
    PointedWeights,
    SourceFile,
    WrittenFile,
)
from modelexport_exporter.pipeline.placed_checkpoint import pointed_sources
from modelexport_exporter.storage.regular_files import place

MODEL = WrittenFile("model.onnx", 10, "0" * 64)
DATA = WrittenFile("model.111111111111.data", 20, "1" * 64)
SHARD = WrittenFile("model.222222222222.data", 30, "2" * 64)
SOURCES = [SourceFile("index.json", 5, "5" * 64), SourceFile("a", 20, "1" * 64)]


def converted(*files: WrittenFile, pointed: WrittenFile) -> ConvertedModel:
    into = PointedFile(pointed.name, "a", 1, 8)
    return ConvertedModel(
        Path("model.onnx"), files, 20, 10, "", (), (), {}, pointed=PointedWeights((into,), 0, 0)
    )


def test_a_file_of_the_checkpoint_has_its_digest() -> None:
    assert pointed_sources(converted(MODEL, DATA, pointed=DATA), SOURCES) == {DATA: 1}


@pytest.mark.parametrize(
    "model",
    [
        pytest.param(converted(MODEL, SHARD, pointed=SHARD), id="another digest"),
        pytest.param(converted(MODEL, pointed=DATA), id="a file that it has not written"),
        pytest.param(
            converted(MODEL, replace(DATA, size_bytes=21), pointed=DATA), id="another size"
        ),
    ],
)
def test_what_the_checkpoint_does_not_have_is_refused(model: ConvertedModel) -> None:
    with pytest.raises(ExportFailure) as caught:
        pointed_sources(model, SOURCES)
    assert caught.value.reason is Reason.WORKER_ANSWER_INVALID


def test_the_checkpoint_is_copied(tmp_path: Path) -> None:
    source, target = tmp_path / "source", tmp_path / "out" / "model.0.data"
    source.write_bytes(b"content")
    target.parent.mkdir()
    target.symlink_to(tmp_path / "elsewhere")  # as a worker may leave it
    assert place(source, target) == hashlib.sha256(b"content").hexdigest()
    assert target.read_bytes() == b"content"
    assert not target.is_symlink()
    assert target.stat().st_nlink == 1
    assert not (tmp_path / "elsewhere").exists()


def test_a_directory_that_is_a_link_is_refused(tmp_path: Path) -> None:
    source = tmp_path / "source"
    source.write_bytes(b"content")
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "out").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(OSError, match=r"directory|symbolic"):
        place(source, tmp_path / "out" / "model.0.data")
    assert list((tmp_path / "elsewhere").iterdir()) == []
