"""Formats are detected by bytes; nothing here needs torch."""

from __future__ import annotations

import json
import pickle
import struct
import zipfile
from collections import OrderedDict
from fractions import Fraction
from pathlib import Path

import pytest

from modelexport_api.reasons import Reason
from modelexport_api.spec import Format
from modelexport_exporter.checkpoint.formats import detect, read_safetensors_header
from modelexport_exporter.checkpoint.layout import Detected, Layout
from modelexport_exporter.core.errors import ExportFailure

LEGACY = b"\x80\x02\x8a\nl\xfc\x9cF\xf9 j\xa8P\x19.\x80\x02M\xe9\x03."
LEGACY_FRAMED = b"\x80\x04\x95\x0d\x00\x00\x00\x00\x00\x00\x00\x8a\nl\xfc\x9cF\xf9 j\xa8P\x19."


def archive(path: Path, *entries: str) -> Path:
    with zipfile.ZipFile(path, "w") as file:
        for entry in entries:
            file.writestr(f"anything/{entry}", b"x")
    return path


def safetensors(path: Path, *, data: bytes = b"\0" * 8, end: int = 8) -> Path:
    entry = {"dtype": "F32", "shape": [end // 4], "data_offsets": [0, end]}
    header = json.dumps({"w": entry, "__metadata__": {"format": "pt"}}).encode()
    path.write_bytes(struct.pack("<Q", len(header)) + header + data)
    return path


@pytest.mark.parametrize(
    ("entries", "expected"),
    [
        pytest.param(["data.pkl", "data/0", "version"], Format.STATE_DICT, id="torch.save"),
        pytest.param(
            ["data.pkl", "constants.pkl", "code/__torch__.py"], Format.TORCH_SCRIPT, id="jit.save"
        ),
        pytest.param(
            ["archive_format", "models/model.json"], Format.EXPORTED_PROGRAM, id="export.save"
        ),
        pytest.param(
            ["serialized_exported_program.json"], Format.EXPORTED_PROGRAM, id="old export.save"
        ),
    ],
)
def test_archives_are_detected_by_their_entries(
    entries: list[str], expected: Format, tmp_path: Path
) -> None:
    assert detect(archive(tmp_path / "model.bin", *entries)) == Detected(expected, Layout.ZIP)


@pytest.mark.parametrize("head", [LEGACY, LEGACY_FRAMED], ids=["protocol 2", "protocol 4"])
def test_files_from_before_the_zip_format(head: bytes, tmp_path: Path) -> None:
    (tmp_path / "model.bin").write_bytes(head + b"\0" * 100)
    expected = Detected(Format.STATE_DICT, Layout.LEGACY_PICKLE)
    assert detect(tmp_path / "model.bin") == expected


@pytest.mark.parametrize("legacy", [False, True], ids=["zip", "legacy"])
@pytest.mark.parametrize(
    ("content", "expected", "named"),
    [
        pytest.param({}, Format.STATE_DICT, "", id="dict"),
        pytest.param(OrderedDict(a=1), Format.STATE_DICT, "", id="ordered dict"),
        pytest.param([1], Format.STATE_DICT, "", id="list"),
        pytest.param(Fraction(1, 2), Format.MODULE, "fractions.Fraction", id="object"),
        pytest.param({"a": Fraction(1, 2)}, Format.STATE_DICT, "", id="object inside"),
    ],
)
def test_pickled_object_is_not_taken_for_weights(
    content: object, expected: Format, named: str, legacy: bool, tmp_path: Path
) -> None:
    path = tmp_path / "model.pt"
    pickled = pickle.dumps(content, protocol=2)
    if legacy:
        preamble = [0x1950A86A20F9469CFC6C, 1001, {"little_endian": True}]
        path.write_bytes(b"".join(pickle.dumps(part, protocol=2) for part in preamble) + pickled)
    else:
        with zipfile.ZipFile(path, "w") as file:
            file.writestr("model/data.pkl", pickled)
    layout = Layout.LEGACY_PICKLE if legacy else Layout.ZIP
    assert detect(path) == Detected(expected, layout, named)


def test_lightning_is_detected_by_its_version_key(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "last.ckpt", "w") as file:
        file.writestr("last/data.pkl", pickle.dumps({"pytorch-lightning_version": "2"}, protocol=2))
    assert detect(tmp_path / "last.ckpt").format is Format.LIGHTNING


@pytest.mark.parametrize(
    ("declared", "found"),
    [
        (Format.LIGHTNING, Format.LIGHTNING),
        (Format.MODULE, Format.MODULE),
        (Format.STATE_DICT, Format.STATE_DICT),
    ],
)
def test_a_dict_is_read_as_what_the_spec_declares(
    declared: Format, found: Format, tmp_path: Path
) -> None:
    path = archive(tmp_path / "model.pt", "data.pkl")
    assert detect(path, declared).format is found


def test_safetensors_are_detected_by_their_header(tmp_path: Path) -> None:
    path = safetensors(tmp_path / "weights.pt")
    assert detect(path) == Detected(Format.SAFETENSORS, Layout.SAFETENSORS)
    assert list(read_safetensors_header(path)) == ["w"]


def test_a_directory_of_shards(tmp_path: Path) -> None:
    safetensors(tmp_path / "model-1.safetensors")
    assert detect(tmp_path) == Detected(Format.SAFETENSORS, Layout.SHARDS)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        pytest.param(b"GGUF" + b"\0" * 60, "GGUF", id="gguf"),
        pytest.param(b"\x89HDF\r\n" + b"\0" * 60, "HDF5", id="keras"),
        pytest.param(b"\x1f\x8b\x08" + b"\0" * 60, "unpack", id="gzip"),
        pytest.param(b"version https://git-lfs.github.com/spec/v1\n", "LFS", id="lfs pointer"),
        pytest.param(b"\0" * 100, "no format", id="zeros"),
        pytest.param(b"x", "no format", id="one byte"),
    ],
)
def test_refusal_names_the_detected_format(content: bytes, said: str, tmp_path: Path) -> None:
    (tmp_path / "model").write_bytes(content)
    with pytest.raises(ExportFailure, match=said) as caught:
        detect(tmp_path / "model")
    assert caught.value.reason is Reason.FORMAT_UNKNOWN


def test_a_foreign_archive_shows_what_it_holds(tmp_path: Path) -> None:
    with pytest.raises(ExportFailure, match=r"anything/readme\.txt"):
        detect(archive(tmp_path / "model.zip", "readme.txt"))


def test_an_empty_directory_is_unknown(tmp_path: Path) -> None:
    with pytest.raises(ExportFailure, match="it is empty"):
        detect(tmp_path)


@pytest.mark.parametrize(
    "declared", [Format.AUTO, Format.SAFETENSORS], ids=["auto", "the right one"]
)
def test_a_declared_format_that_agrees(declared: Format, tmp_path: Path) -> None:
    assert detect(safetensors(tmp_path / "w"), declared).format is Format.SAFETENSORS


@pytest.mark.parametrize(
    ("data", "end"),
    [
        pytest.param(b"\0" * 7, 8, id="one byte short"),
        pytest.param(b"\0" * 9, 8, id="one byte too many"),
        pytest.param(b"", 8, id="no data"),
    ],
)
def test_safetensors_of_another_size_are_corrupt(data: bytes, end: int, tmp_path: Path) -> None:
    with pytest.raises(ExportFailure, match="its header describes") as caught:
        read_safetensors_header(safetensors(tmp_path / "w", data=data, end=end))
    assert caught.value.reason is Reason.CHECKPOINT_CORRUPT
