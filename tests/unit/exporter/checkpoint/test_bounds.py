"""Small files that would take gigabytes: each is a typed failure, in little memory and time."""

from __future__ import annotations

import json
import struct
import tracemalloc
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from modelexport_api.reasons import Reason
from modelexport_api.spec import ModelExportSpec
from modelexport_exporter.checkpoint import files
from modelexport_exporter.checkpoint.archive_records import sha256_and_records
from modelexport_exporter.checkpoint.formats import detect, read_safetensors_header
from modelexport_exporter.core.errors import ExportFailure
from modelexport_exporter.sampling.golden import read_golden
from modelexport_exporter.source.fetch_code import fetch_code
from modelexport_exporter.source.imported_libraries import imported_libraries
from modelexport_exporter.storage.files import FileStore
from modelexport_exporter.storage.store import Location, Role
from unit.api.manifests import VALID
from unit.exporter.core import hostile_archives as hostile

GIB = 1 << 30
MIB = 1 << 20


@pytest.fixture(autouse=True)
def little_memory() -> Iterator[None]:
    """Fail a test that takes more than 200 MiB of Python's memory."""
    yield
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 200 * MIB


def refused(read: Callable[[], object], reason: Reason, words: str) -> None:
    tracemalloc.start()
    with pytest.raises(ExportFailure, match=words) as caught:
        read()
    assert caught.value.reason is reason
    assert caught.value.hint


def test_a_checkpoint_that_inflates(tmp_path: Path) -> None:
    """The search for Lightning's key took 4.1 GB for 2 MB of file, in the supervisor."""
    path = hostile.inflating(tmp_path / "a.pt", "archive/data.pkl", GIB)
    assert path.stat().st_size < 9 * MIB
    refused(lambda: detect(path), Reason.CHECKPOINT_CORRUPT, "inflate to 1,073,741,824 bytes")
    assert len(sha256_and_records(path)) == 64


def test_a_checkpoint_of_a_million_records(tmp_path: Path) -> None:
    path = hostile.long_directory(tmp_path / "a.pt", 1_000_000)
    refused(lambda: detect(path), Reason.CHECKPOINT_CORRUPT, "its directory has 46,000,000 bytes")


def test_code_that_inflates(tmp_path: Path) -> None:
    path = hostile.inflating(tmp_path / "code.zip", "model.py", GIB)
    location = Location(FileStore(Role.CODE), str(path))
    refused(
        lambda: fetch_code(location, tmp_path / "work"),
        Reason.CODE_INVALID,
        "1 files of 1074 MB; allowed are",
    )


def test_golden_samples_that_inflate(tmp_path: Path) -> None:
    path = hostile.claiming(tmp_path / "golden.npz", "image.npy", 4 * GIB)
    spec = ModelExportSpec.model_validate(VALID["spec"])
    refused(lambda: read_golden(path, spec), Reason.SAMPLES_INVALID, "inflate to 4,294,967,296")
    np.savez_compressed(path, other=np.zeros(MIB, "float32"))
    with pytest.raises(ExportFailure, match="has no array for"):
        read_golden(path, spec)


def test_an_index_of_a_million_lists() -> None:
    index = b'{"weight_map":{"a":[' + b"[]," * 1_000_000 + b"[]]}}"
    refused(
        lambda: files.weight_map(index, "model.safetensors.index.json"),
        Reason.CHECKPOINT_CORRUPT,
        "values; at most 2,000,000 are read",
    )


def test_an_index_of_many_tensors_is_read() -> None:
    tracemalloc.start()
    keys = {f"model.layers.{number}.weight": "a.safetensors" for number in range(150_000)}
    index = json.dumps({"weight_map": keys}).encode()
    assert len(files.weight_map(index, "index")) == 150_000


def test_a_header_of_safetensors_with_millions_of_lists(tmp_path: Path) -> None:
    header = b'{"a":[' + b"[]," * 2_600_000 + b"[]]}"
    path = tmp_path / "a.safetensors"
    path.write_bytes(struct.pack("<Q", len(header)) + header)
    refused(
        lambda: read_safetensors_header(path),
        Reason.CHECKPOINT_CORRUPT,
        "values; at most 5,000,000 are read",
    )


@pytest.mark.parametrize(
    "code",
    [
        "x = " + "-" * 100_000 + "1",
        "x = " + "(" * 150 + "1" + ")" * 150,
        "x = a" + ".b" * 100_000,
        "x = " + "+".join("1" * 100_000),
    ],
    ids=["signs", "parentheses", "attributes", "sums"],
)
def test_code_that_is_nested_too_deeply_is_left_to_the_worker(tmp_path: Path, code: str) -> None:
    """The parser raised MemoryError and RecursionError in the supervisor."""
    tracemalloc.start()
    (tmp_path / "model.py").write_text(f"import numpy\n{code}\n")
    assert all(one.module == "numpy" for one in imported_libraries("model:build", tmp_path))
