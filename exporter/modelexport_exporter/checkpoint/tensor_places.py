"""Where a checkpoint has the bytes of whole tensors, so that an ONNX file can point to them.

Nothing is loaded: records that a zip archive stores as they are, and what the header of a
safetensors file describes. A checkpoint without any cannot be pointed into: legacy files of
torch.save hold their tensors in a pickle, an archive may be compressed.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from modelexport_api.reasons import Reason
from modelexport_api.spec import ModelExportSpec
from modelexport_exporter.checkpoint import files as checkpoint_files
from modelexport_exporter.checkpoint.archive_records import stored_records
from modelexport_exporter.checkpoint.formats import (
    detect,
    directory_contents,
    read_safetensors_header,
)
from modelexport_exporter.checkpoint.layout import Layout
from modelexport_exporter.core.errors import Incurable
from modelexport_exporter.onnx_file.external_data import Placed
from modelexport_exporter.onnx_file.stored_tensors import StoredFile

_LENGTH_BYTES = 8
"""Of the header, before a safetensors file's header."""


def stored_files(checkpoint: Path, spec: ModelExportSpec) -> tuple[StoredFile, ...]:
    """Return the checkpoint's files that have tensors in one piece. Raises ExportFailure."""
    names = _names(checkpoint, spec) if checkpoint.is_dir() else ("",)
    paths = [checkpoint / name for name in names]
    files = [StoredFile(path, places_in(path)) for path in paths]
    found = tuple(file for file in files if file.places)
    if not found:
        raise _nothing_to_point_to(checkpoint, spec)
    return found


def _names(directory: Path, spec: ModelExportSpec) -> tuple[str, ...]:
    contents = directory_contents(directory, spec.source.format)
    if contents.index is None:
        return contents.files
    index = (directory / contents.index).read_bytes()
    return tuple(checkpoint_files.shards(index, directory.name))


def places_in(path: Path) -> tuple[Placed, ...]:
    """Return the places of whole tensors in a file; none where it is of another kind."""
    with path.open("rb") as file:
        start = file.read(_LENGTH_BYTES + 1)
    if start.startswith(b"PK\x03\x04"):
        return tuple(Placed(record.begin, record.size) for record in stored_records(path))
    if start[_LENGTH_BYTES:] == b"{":
        begin = _LENGTH_BYTES + int.from_bytes(start[:_LENGTH_BYTES], "little")
        return tuple(_place(entry, begin) for entry in read_safetensors_header(path).values())
    return ()


def _place(entry: dict[str, Any], begin: int) -> Placed:
    first, end = entry["data_offsets"]
    return Placed(begin + first, end - first)


def _nothing_to_point_to(checkpoint: Path, spec: ModelExportSpec) -> Incurable:
    return Incurable(
        Reason.CONTRACT_VIOLATED,
        f"export.weights is InCheckpoint, but {checkpoint.name} has no tensor as plain bytes: "
        f"it is a {_kind(checkpoint, spec)}",
        "Save the checkpoint with torch.save (its default, an uncompressed zip) or as safetensors, "
        "or leave export.weights out.",
    )


def _kind(checkpoint: Path, spec: ModelExportSpec) -> str:
    detected = detect(checkpoint, spec.source.format)
    compressed = detected.layout is Layout.ZIP
    return f"{detected}, whose records are compressed" if compressed else str(detected)
