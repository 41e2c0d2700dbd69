"""Real checkpoints, of which only ranges are read."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import safetensors.torch
import torch

from modelexport_exporter.core.stored_object import StoredObject
from modelexport_exporter.source.checkpoint_header import Header, read_header
from modelexport_exporter.source.memory_prediction import Loading
from modelexport_exporter.storage.files import FileStore
from modelexport_exporter.storage.store import Role

WEIGHTS = torch.nn.Linear(100, 99, bias=False)
BYTES = 100 * 99 * 4


def save_legacy(path: Path) -> None:
    torch.save(WEIGHTS.state_dict(), path, _use_new_zipfile_serialization=False)


def save_script(path: Path) -> None:
    torch.jit.script(WEIGHTS).save(path)  # type: ignore[no-untyped-call]


def save_program(path: Path) -> None:
    torch.export.save(torch.export.export(WEIGHTS, (torch.ones(1, 100),)), path)


def header_of(path: Path) -> Header:
    store = FileStore(Role.SOURCE)
    found = store.stat(str(path))
    assert found is not None
    return read_header(store, found)


@pytest.mark.parametrize(
    ("save", "loading"),
    [
        (lambda path: torch.save(WEIGHTS.state_dict(), path), Loading.MAPPED),
        (
            lambda path: safetensors.torch.save_file(WEIGHTS.state_dict(), path),
            Loading.MAPPED,
        ),
        (save_script, Loading.COPIED),
    ],
    ids=["torch.save", "safetensors", "TorchScript"],
)
def test_the_header_has_the_bytes_of_weights(
    tmp_path: Path, save: Callable[[Path], None], loading: Loading
) -> None:
    save(path := tmp_path / "checkpoint.pt")
    assert header_of(path) == Header(BYTES, loading)


def test_an_older_file_counts_as_a_whole(tmp_path: Path) -> None:
    save_legacy(path := tmp_path / "checkpoint.pt")
    assert header_of(path) == Header(path.stat().st_size, Loading.COPIED)


def test_of_an_exported_program_nothing_is_certain(tmp_path: Path) -> None:
    save_program(path := tmp_path / "program.pt2")
    assert header_of(path).loading is Loading.UNKNOWN


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"PK",
        b"PK\x03\x04" + bytes(100),
        b"\xff" * 7 + b"\x7f{",
        b"\x08" + bytes(7) + b"{.......",
    ],
    ids=["empty", "short", "no directory", "endless header", "no json"],
)
def test_what_is_not_understood_is_unknown(tmp_path: Path, content: bytes) -> None:
    (path := tmp_path / "checkpoint.pt").write_bytes(content)
    assert header_of(path) == Header(len(content), Loading.UNKNOWN)


def test_a_gigabyte_takes_two_small_reads(tmp_path: Path) -> None:
    class Counting(FileStore):
        moved = 0

        def read_range(self, found: StoredObject, start: int, end: int) -> bytes:
            self.moved += end - start
            return super().read_range(found, start, end)

    path = tmp_path / "checkpoint.pt"
    with torch.serialization.skip_data():
        torch.save({"weight": torch.empty(2**28)}, path)
    store = Counting(Role.SOURCE)
    found = store.stat(str(path))
    assert found is not None
    assert read_header(store, found) == Header(2**30, Loading.MAPPED)
    assert store.moved < 2**20
