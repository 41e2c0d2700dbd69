"""What a checkpoint is, told from its bytes and never from its name.

Guarantees that every later stage knows what it opens, without torch: a file is recognised by its
magic and its archive entries. A `format` in the spec that the bytes contradict is an error here,
because each loader would fail later with a sentence about something else.
"""

from __future__ import annotations

import json
import struct
import zipfile
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

from modelexport_api.reasons import Reason
from modelexport_api.spec import Format
from modelexport_exporter.failure import ExportFailure

SAFETENSORS_SUFFIX = ".safetensors"
INDEX_SUFFIX = ".safetensors.index.json"

_ZIP_MAGIC = b"PK\x03\x04"
_LEGACY_MAGIC = b"\x8a\nl\xfc\x9cF\xf9 j\xa8P\x19."
"""torch's magic number, pickled: how a file from before the zip format begins."""
_MAX_SAFETENSORS_HEADER = 100_000_000

_FORMATS_HINT = (
    "Supported: a state_dict saved with torch.save, safetensors (one file, or a directory of "
    "shards with their index), TorchScript archives (torch.jit.save) and ExportedPrograms "
    "(torch.export.save)."
)
_SAVE_AGAIN = "Save or upload the checkpoint again, and compare its size with the original."


class Layout(Enum):
    """How the bytes are arranged; decides what can be mapped into memory."""

    ZIP = "zip"
    LEGACY_PICKLE = "legacy pickle"
    SAFETENSORS = "safetensors"
    SHARDS = "directory of safetensors shards"


@dataclass(frozen=True)
class Detected:
    """The format of a checkpoint and its layout on disk."""

    format: Format
    layout: Layout

    def __str__(self) -> str:
        return f"{self.format.value} ({self.layout.value})"


def detect(checkpoint: Path, declared: Format = Format.AUTO) -> Detected:
    """Return what the checkpoint is; fail where it is nothing known or not what was declared."""
    found = _detect_directory(checkpoint) if checkpoint.is_dir() else _detect_file(checkpoint)
    if declared not in {Format.AUTO, found.format}:
        raise ExportFailure(
            Reason.FORMAT_UNKNOWN,
            f"source.format is {declared.value}, but {checkpoint.name} holds a {found}",
            f"Set source.format to {found.format.value}, or leave it out: Auto looks into the "
            "file. If the file is not the one you meant, correct source.uri.",
        )
    return found


def _detect_directory(directory: Path) -> Detected:
    names = sorted(path.name for path in directory.iterdir())
    if any(name.endswith((SAFETENSORS_SUFFIX, INDEX_SUFFIX)) for name in names):
        return Detected(Format.SAFETENSORS, Layout.SHARDS)
    listed = ", ".join(names[:5]) or "nothing"
    raise ExportFailure(
        Reason.FORMAT_UNKNOWN,
        f"the checkpoint is a directory without safetensors files; it holds {listed}",
        "A directory must hold *.safetensors shards, with their *.safetensors.index.json where "
        "there are several. For any other checkpoint name the file itself in source.uri.",
    )


def _detect_file(path: Path) -> Detected:
    with path.open("rb") as file:
        head = file.read(64)
    if not head:
        raise ExportFailure(Reason.CHECKPOINT_CORRUPT, f"{path.name} is empty", _SAVE_AGAIN)
    if head.startswith(_ZIP_MAGIC):
        return Detected(_format_of_archive(path), Layout.ZIP)
    if _LEGACY_MAGIC in head[:32]:
        return Detected(Format.STATE_DICT, Layout.LEGACY_PICKLE)
    if _looks_like_safetensors(head):
        return Detected(Format.SAFETENSORS, Layout.SAFETENSORS)
    raise ExportFailure(
        Reason.FORMAT_UNKNOWN,
        f"{path.name} begins with {head[:8]!r}: {_guess(head)}",
        _FORMATS_HINT,
    )


def _format_of_archive(path: Path) -> Format:
    """Tell torch's three zip formats apart by their entries, below the archive's own name."""
    try:
        with zipfile.ZipFile(path) as archive:
            entries = {name.partition("/")[2] for name in archive.namelist()}
            top = sorted(archive.namelist())[:5]
    except zipfile.BadZipFile as error:
        raise ExportFailure(
            Reason.CHECKPOINT_CORRUPT,
            f"{path.name} begins like a zip archive of torch but is cut off or damaged: its "
            f"directory cannot be read ({path.stat().st_size} bytes are there)",
            _SAVE_AGAIN,
        ) from error
    if "archive_format" in entries or "serialized_exported_program.json" in entries:
        return Format.EXPORTED_PROGRAM
    if "constants.pkl" in entries and any(name.startswith("code/") for name in entries):
        return Format.TORCH_SCRIPT
    if "data.pkl" in entries:
        return Format.STATE_DICT
    raise ExportFailure(
        Reason.FORMAT_UNKNOWN,
        f"{path.name} is a zip archive, but not one of torch's; it holds {', '.join(top)}",
        _FORMATS_HINT,
    )


def _looks_like_safetensors(head: bytes) -> bool:
    """Look for a little-endian length, then a JSON object of that length."""
    if len(head) < struct.calcsize("<Q") + 1:
        return False
    (length,) = struct.unpack_from("<Q", head)
    return length <= _MAX_SAFETENSORS_HEADER and head[8:9] == b"{"


def _guess(head: bytes) -> str:
    known = {
        b"\x80": "a Python pickle that torch.save did not write",
        b"\x89HDF": "an HDF5 file (Keras?)",
        b"\x1f\x8b": "a gzip file; unpack it first",
        b"GGUF": "a GGUF file",
        b"\x08": "perhaps an ONNX file already",
        b"version https://git-lfs": "a Git LFS pointer, not the file it points to",
        b"<": "an HTML or XML page, perhaps the error page of a download",
        b"{": "JSON text",
    }
    for magic, meaning in known.items():
        if head.startswith(magic) or (magic in {b"<", b"{"} and head.lstrip().startswith(magic)):
            return meaning
    return "no format that is known here"


def read_safetensors_header(path: Path) -> dict[str, dict[str, object]]:
    """Return the header's tensors, having checked that the file holds all their bytes."""
    size = path.stat().st_size
    with path.open("rb") as file:
        prefix = file.read(8)
        length = struct.unpack("<Q", prefix)[0] if len(prefix) == struct.calcsize("<Q") else 0
        text = file.read(length) if 0 < length <= min(size, _MAX_SAFETENSORS_HEADER) else b""
    try:
        header = json.loads(text)
        tensors = {name: entry for name, entry in header.items() if name != "__metadata__"}
        end = max((entry["data_offsets"][1] for entry in tensors.values()), default=0)
    except (RecursionError, ValueError, KeyError, TypeError, AttributeError, IndexError) as error:
        raise ExportFailure(
            Reason.CHECKPOINT_CORRUPT,
            f"the header of {path.name} is damaged or cut off",
            _SAVE_AGAIN,
        ) from error
    expected = 8 + length + end
    if size != expected:
        raise ExportFailure(
            Reason.CHECKPOINT_CORRUPT,
            f"{path.name} has {size} bytes, its header describes {expected}",
            _SAVE_AGAIN,
        )
    return tensors
