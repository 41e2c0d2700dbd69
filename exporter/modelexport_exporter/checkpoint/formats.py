"""The format of a checkpoint, detected from its bytes and never from its name.

Guarantees that every later stage knows what it opens, without torch: a file is recognised by its
magic and its archive entries. A `format` in the spec that the bytes contradict is an error here,
because each loader would fail later with a sentence about something else.
"""

from __future__ import annotations

import struct
import zipfile
from dataclasses import replace
from pathlib import Path

from modelexport_api.reasons import Reason
from modelexport_api.spec import Format
from modelexport_exporter.checkpoint import files, pickle_peek
from modelexport_exporter.checkpoint.layout import Detected, Layout
from modelexport_exporter.core.archives import ArchiveTooLargeError, check_archive, open_archive
from modelexport_exporter.core.bounded_json import BoundedJsonError, read_json
from modelexport_exporter.core.errors import ExportFailure, printable

_ZIP_MAGIC = b"PK\x03\x04"
_LEGACY_MAGIC = b"\x8a\nl\xfc\x9cF\xf9 j\xa8P\x19."
"""torch's magic number, pickled: how a file from before the zip format begins."""
_MAX_SAFETENSORS_HEADER = 100_000_000
_MOST_HEADER_VALUES = 5_000_000
"""Of about 500,000 tensors."""

_FORMATS_HINT = (
    "Supported: a state_dict or module saved with torch.save, Lightning's .ckpt, safetensors, "
    "TorchScript archives (torch.jit.save), ExportedPrograms (torch.export.save), and directories "
    "of shards with their index, of Hugging Face models and of torch.distributed.checkpoint."
)
_SAVE_AGAIN = "Save or upload the checkpoint again, and compare its size with the original."


_ALSO_READ_AS: dict[Format, frozenset[Format]] = {
    # a checkpoint of Lightning is a dict with a state_dict, with or without Lightning's version
    Format.LIGHTNING: frozenset((Format.STATE_DICT, Format.MODULE)),
    # a module has a state_dict, and a dict may hold a module
    Format.STATE_DICT: frozenset((Format.LIGHTNING, Format.MODULE)),
    Format.MODULE: frozenset((Format.STATE_DICT, Format.LIGHTNING)),
}
"""Detected formats that a declared format accepts, besides itself."""


def detect(checkpoint: Path, declared: Format = Format.AUTO) -> Detected:
    """Return what the checkpoint is; fail where it is nothing known or not what was declared."""
    if checkpoint.is_dir():
        contents = directory_contents(checkpoint, declared)
        found = Detected(contents.format, contents.layout)
    else:
        found = _detect_file(checkpoint)
    if found.format in _ALSO_READ_AS.get(declared, ()):
        return replace(found, format=declared)
    if declared not in {Format.AUTO, found.format}:
        raise ExportFailure(
            Reason.FORMAT_UNKNOWN,
            f"source.format is {declared.value}, but {checkpoint.name} holds a {found}",
            f"Set source.format to {found.format.value}, or leave it out: Auto looks into the "
            "file. If the file is not the one you meant, correct source.uri.",
        )
    return found


def directory_contents(directory: Path, declared: Format) -> files.Contents:
    """Return which files of a directory on this machine make up the checkpoint."""
    names = sorted(path.name + "/" * path.is_dir() for path in directory.iterdir())
    return files.choose(names, declared, directory.name)


def _detect_file(path: Path) -> Detected:
    try:
        with path.open("rb") as file:
            head = file.read(64)
    except PermissionError as error:
        raise ExportFailure(
            Reason.ACCESS_DENIED,
            f"{path.name} cannot be read: {error.strerror}",
            "Check its owner and mode. A link to what holds credentials is not followed.",
        ) from error
    if not head:
        raise ExportFailure(Reason.CHECKPOINT_CORRUPT, f"{path.name} is empty", _SAVE_AGAIN)
    if head.startswith(_ZIP_MAGIC):
        return _detect_archive(path)
    if _LEGACY_MAGIC in head[:32]:
        return _pickled(path, Layout.LEGACY_PICKLE)
    if _looks_like_safetensors(head):
        return Detected(Format.SAFETENSORS, Layout.SAFETENSORS)
    raise ExportFailure(
        Reason.FORMAT_UNKNOWN,
        f"{path.name} begins with {head[:8]!r}: {_guess(head)}",
        _FORMATS_HINT,
    )


def _pickled(path: Path, layout: Layout) -> Detected:
    """Return what torch.save was given: weights, a checkpoint of Lightning, or an object."""
    if layout is Layout.LEGACY_PICKLE:
        found = pickle_peek.top_class_in_legacy_file(path)
        return Detected(Format.MODULE if found else Format.STATE_DICT, layout, found)
    found = pickle_peek.top_class_in_zip(path)
    if found:
        return Detected(Format.MODULE, layout, found)
    if pickle_peek.is_lightning(path):
        return Detected(Format.LIGHTNING, layout)
    return Detected(Format.STATE_DICT, layout)


def _detect_archive(path: Path) -> Detected:
    try:
        check_archive(path)
        found = _format_of_archive(path)
        return _pickled(path, Layout.ZIP) if found is None else Detected(found, Layout.ZIP)
    except ArchiveTooLargeError as error:
        raise ExportFailure(
            Reason.CHECKPOINT_CORRUPT,
            f"{path.name} is an archive that torch did not write: {error}",
            "Do not trust its origin. Save the checkpoint again with torch.save, which does not "
            "compress weights.",
        ) from error
    except zipfile.BadZipFile as error:
        why = printable(str(error))[:200]
        raise ExportFailure(
            Reason.CHECKPOINT_CORRUPT,
            f"{path.name} begins like a zip archive of torch but is cut off or damaged: it "
            f"cannot be read ({path.stat().st_size} bytes are there): {why}",
            _SAVE_AGAIN,
        ) from error


def _format_of_archive(path: Path) -> Format | None:
    """Return which of torch's zip formats it is, by its entries; None: the pickle decides."""
    with open_archive(path) as archive:
        entries = {name.partition("/")[2] for name in archive.namelist()}
        top = sorted(archive.namelist())[:5]
    if "archive_format" in entries or "serialized_exported_program.json" in entries:
        return Format.EXPORTED_PROGRAM
    if "constants.pkl" in entries and any(name.startswith("code/") for name in entries):
        return Format.TORCH_SCRIPT
    if "data.pkl" in entries:
        return None
    raise ExportFailure(
        Reason.FORMAT_UNKNOWN,
        f"{path.name} is a zip archive, but not one of torch's; it holds "
        f"{', '.join(name[:100] for name in top)}",
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
        header = read_json(text, values=_MOST_HEADER_VALUES, size=_MAX_SAFETENSORS_HEADER)
        tensors = {name: entry for name, entry in header.items() if name != "__metadata__"}
        end = max((entry["data_offsets"][1] for entry in tensors.values()), default=0)
    except (ValueError, KeyError, TypeError, AttributeError, IndexError) as error:
        why = f": {error}" if isinstance(error, BoundedJsonError) and text else ""
        raise ExportFailure(
            Reason.CHECKPOINT_CORRUPT,
            f"the header of {path.name} is damaged or cut off{why}",
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
