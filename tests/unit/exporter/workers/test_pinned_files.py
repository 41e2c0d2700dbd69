"""The judge compares the digests of what it reads with those that the exporter stated."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

import pytest

from modelexport_api.reasons import Reason
from modelexport_exporter.core.errors import ExportFailure
from modelexport_exporter.core.types import ConvertedModel, WrittenFile
from modelexport_exporter.workers.pinned_files import PinnedFiles

FILES = {"model.onnx": b"graph", "model.onnx.data": b"weights"}


@pytest.fixture
def converted(tmp_path: Path) -> ConvertedModel:
    for name, content in FILES.items():
        (tmp_path / name).write_bytes(content)
    return ConvertedModel(
        model_path=tmp_path / "model.onnx",
        files=tuple(
            WrittenFile(name, len(content), hashlib.sha256(content).hexdigest())
            for name, content in FILES.items()
        ),
        opset=20,
        ir_version=10,
        exporter="Dynamo",
        inputs=(),
        outputs=(),
        op_counts={},
    )


def test_files_as_they_were_written_are_right(converted: ConvertedModel) -> None:
    PinnedFiles(converted).check()


@pytest.mark.parametrize("name", FILES)
def test_other_bytes_end_the_verification(converted: ConvertedModel, name: str) -> None:
    (converted.model_path.parent / name).write_bytes(b"other")
    with pytest.raises(ExportFailure, match=f"{name} is not what the exporter wrote") as caught:
        PinnedFiles(converted).check()
    assert caught.value.reason is Reason.ARTIFACT_CHANGED


def test_what_is_no_regular_file_ends_it_at_once(converted: ConvertedModel, tmp_path: Path) -> None:
    path = converted.model_path
    path.rename(tmp_path / "kept")
    path.symlink_to(tmp_path / "kept")
    with pytest.raises(ExportFailure, match="cannot be opened"):
        PinnedFiles(converted)
    path.unlink()
    os.mkfifo(path)
    with pytest.raises(ExportFailure, match="is no regular file"):
        PinnedFiles(converted)
