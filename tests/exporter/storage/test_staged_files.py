"""What is staged cannot be changed any more by a process that has the worker's file open."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from bed.s3 import S3Server
from modelexport_api.reasons import Reason
from modelexport_api.spec import Storage
from modelexport_exporter.core.errors import ExportFailure
from modelexport_exporter.storage.files import FileStore
from modelexport_exporter.storage.s3 import S3Store
from modelexport_exporter.storage.store import Role

CONTENT = b"verified" * 1000
DIGEST = hashlib.sha256(CONTENT).hexdigest()


@pytest.fixture
def written(tmp_path: Path) -> Path:
    path = tmp_path / "run" / "model.onnx"
    path.parent.mkdir()
    path.write_bytes(CONTENT)
    return path


def stage(path: Path, to: Path, *, alone: bool) -> Path:
    """Publish a file to a directory."""
    target, staging = to / "model.1.onnx", to / ".staging"
    store = FileStore(Role.DESTINATION)
    store.stage(path, str(target), str(staging), lambda _n: None, DIGEST, alone=alone).publish()
    return target


def test_a_held_descriptor_changes_nothing_that_was_staged(written: Path, tmp_path: Path) -> None:
    with written.open("r+b", buffering=0) as held:
        published = stage(written, tmp_path / "out", alone=False)
        held.write(b"HOSTILE!")
    assert published.read_bytes() == CONTENT


def test_a_second_name_changes_nothing_that_was_staged(written: Path, tmp_path: Path) -> None:
    second = tmp_path / "cache"
    second.hardlink_to(written)
    published = stage(written, tmp_path / "out", alone=True)
    second.write_bytes(b"HOSTILE!")
    assert published.read_bytes() == CONTENT


def test_a_file_that_nobody_else_has_is_linked(written: Path, tmp_path: Path) -> None:
    published = stage(written, tmp_path / "out", alone=True)
    assert published.samefile(written)
    assert published.read_bytes() == CONTENT


@pytest.mark.parametrize("alone", [True, False])
def test_other_bytes_are_not_staged(written: Path, tmp_path: Path, *, alone: bool) -> None:
    written.write_bytes(b"other")
    with pytest.raises(ExportFailure, match="SHA-256") as caught:
        stage(written, tmp_path / "out", alone=alone)
    assert caught.value.reason is Reason.ARTIFACT_CHANGED
    assert not [path for path in (tmp_path / "out").rglob("*") if path.is_file()]


def _as_link(path: Path) -> None:
    path.symlink_to("/etc/hostname")


def _below_a_link(path: Path) -> None:
    real = path.parent.rename(path.parent.with_name("real"))
    (real / path.name).write_bytes(CONTENT)
    path.parent.symlink_to(real)


REPLACED: list[Callable[[Path], object]] = [_as_link, os.mkfifo, Path.mkdir, _below_a_link]


@pytest.mark.parametrize("replace", REPLACED)
@pytest.mark.parametrize("alone", [True, False])
def test_what_is_no_file_is_not_staged(
    replace: Callable[[Path], object], written: Path, tmp_path: Path, *, alone: bool
) -> None:
    written.unlink()
    replace(written)
    with pytest.raises(ExportFailure) as caught:
        stage(written, tmp_path / "out", alone=alone)
    assert caught.value.reason is Reason.ARTIFACT_CHANGED


@pytest.mark.s3
@pytest.mark.parametrize("replace", REPLACED)
def test_what_is_no_file_is_not_uploaded(
    replace: Callable[[Path], object], written: Path, s3: S3Server, bucket: str
) -> None:
    written.unlink()
    replace(written)
    store = S3Store(bucket, Storage(endpoint=s3.endpoint), Role.DESTINATION)
    with pytest.raises(ExportFailure) as caught:
        store.stage(written, "model.onnx", "", lambda _n: None, DIGEST)
    assert caught.value.reason is Reason.ARTIFACT_CHANGED
