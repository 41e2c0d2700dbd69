"""Archives of torch whose bytes changed after they were written."""

from __future__ import annotations

import hashlib
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import save_file

from modelexport_api.reasons import Reason
from modelexport_exporter.checkpoint.archive_records import check_storages, sha256_and_records
from modelexport_exporter.core.errors import ExportFailure

STATE = {
    "weight": torch.arange(300_000, dtype=torch.float32).reshape(300, 1000),
    "half": torch.ones(7, dtype=torch.bfloat16),
    "count": torch.arange(5),
    "view": torch.arange(12.0)[3:6],
}


def _torch_save(path: Path) -> None:
    torch.save({"model": STATE, "epoch": 3, "args": {"lr": 0.1}}, path)


def _module(path: Path) -> None:
    torch.save(torch.nn.Linear(300, 100), path)


def _script(path: Path) -> None:
    torch.jit.save(torch.jit.script(torch.nn.Linear(300, 100)), path)


def _trace(path: Path) -> None:
    traced = torch.jit.trace(torch.nn.Linear(300, 100), torch.ones(2, 300))  # type: ignore[no-untyped-call]
    torch.jit.save(traced, path)


def _without_crc(path: Path) -> None:
    torch.serialization.set_crc32_options(compute_crc32=False)
    try:
        _torch_save(path)
    finally:
        torch.serialization.set_crc32_options(compute_crc32=True)


def _legacy(path: Path) -> None:
    torch.save(STATE, path, _use_new_zipfile_serialization=False)


def _safetensors(path: Path) -> None:
    save_file({name: tensor.clone() for name, tensor in STATE.items()}, path)


Write = Callable[[Path], None]
ARCHIVES: list[Write] = [_torch_save, _module, _script, _trace]
FILES: list[Write] = [*ARCHIVES, _without_crc, _legacy, _safetensors]


@pytest.mark.parametrize("write", FILES)
def test_right_files_pass(write: Write, tmp_path: Path) -> None:
    path = tmp_path / "model.pt"
    write(path)
    assert sha256_and_records(path) == hashlib.sha256(path.read_bytes()).hexdigest()
    check_storages(path)


@pytest.mark.parametrize("write", ARCHIVES)
@pytest.mark.parametrize("where", [0.0, 0.5, 1.0])
def test_a_flipped_bit_of_a_record_is_found(write: Write, where: float, tmp_path: Path) -> None:
    path = tmp_path / "model.pt"
    write(path)
    content = bytearray(path.read_bytes())
    with zipfile.ZipFile(path) as archive:
        largest = max(archive.infolist(), key=lambda entry: entry.file_size)
        with archive.open(largest) as record:
            begin = content.index(record.read())
    content[begin + int(where * (largest.file_size - 1))] ^= 16
    path.write_bytes(content)
    with pytest.raises(ExportFailure) as caught:
        sha256_and_records(path)
    assert caught.value.reason is Reason.CHECKPOINT_CORRUPT
    assert largest.filename in caught.value.message


@pytest.mark.parametrize("write", ARCHIVES)
@pytest.mark.parametrize("change", [-1024, -1, 1])
def test_a_record_of_another_length_is_found(write: Write, change: int, tmp_path: Path) -> None:
    path, changed = tmp_path / "model.pt", tmp_path / "changed.pt"
    write(path)
    with zipfile.ZipFile(path) as archive, zipfile.ZipFile(changed, "w") as other:
        largest = max(archive.infolist(), key=lambda entry: entry.file_size)
        for entry in archive.infolist():
            content = archive.read(entry)
            if entry.filename == largest.filename:
                content = content[:change] if change < 0 else content + bytes(change)
            other.writestr(entry.filename, content)
    with pytest.raises(ExportFailure) as caught:
        check_storages(changed)
    assert caught.value.reason is Reason.CHECKPOINT_CORRUPT
    assert largest.filename in caught.value.message


def test_what_is_no_archive_is_left_to_loading(tmp_path: Path) -> None:
    for content in (b"", b"PK\x03\x04", b"PK\x03\x04" + np.random.default_rng(1).bytes(500)):
        path = tmp_path / "model.pt"
        path.write_bytes(content)
        check_storages(path)
        assert sha256_and_records(path) == hashlib.sha256(content).hexdigest()


def test_the_pickle_runs_nothing(tmp_path: Path) -> None:
    class Harmful:
        def __reduce__(self) -> tuple[object, tuple[object, ...]]:
            return (Path.write_text, (tmp_path / "ran", "x"))

    path = tmp_path / "model.pt"
    torch.save({"harm": Harmful(), **STATE}, path)
    check_storages(path)
    assert not (tmp_path / "ran").exists()
