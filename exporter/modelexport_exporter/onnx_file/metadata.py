"""Facts about an artifact inside its ONNX file, written after the file was verified.

Protobuf concatenates: the bytes of two messages behind each other are one message, whose repeated
fields hold the entries of both. `metadata_props` of a ModelProto is repeated, so a verdict can be
added to a file without touching one byte that was verified, and without reading the model again.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from pathlib import Path

from modelexport_exporter.core.types import WrittenFile

PREFIX = "modelexport."
"""What the keys begin with."""

_METADATA_PROPS = 14
"""The number of ModelProto.metadata_props; StringStringEntryProto has key = 1, value = 2."""
_LENGTH_DELIMITED = 2


def append_metadata(path: Path, facts: Mapping[str, str]) -> WrittenFile:
    """Append facts to the metadata of a serialized ModelProto; return the file as it is now."""
    with path.open("ab") as file:
        file.write(encode_metadata(facts))
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    return WrittenFile(path.name, path.stat().st_size, digest)


def encode_metadata(facts: Mapping[str, str]) -> bytes:
    """Return a serialized ModelProto that holds nothing but these facts, in order of their keys."""
    entries = (
        _field(1, f"{PREFIX}{key}".encode()) + _field(2, facts[key].encode())
        for key in sorted(facts)
    )
    return b"".join(_field(_METADATA_PROPS, entry) for entry in entries)


def _field(number: int, content: bytes) -> bytes:
    tag = number << 3 | _LENGTH_DELIMITED
    return bytes([*_varint(tag), *_varint(len(content))]) + content


def _varint(value: int) -> Iterator[int]:
    while value > 0x7F:  # noqa: PLR2004 - seven bits a byte
        yield value & 0x7F | 0x80
        value >>= 7
    yield value
