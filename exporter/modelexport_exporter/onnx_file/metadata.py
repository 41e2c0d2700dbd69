"""Facts about an artifact inside its ONNX file, written after the file was verified.

Protobuf concatenates: the bytes of two messages behind each other are one message, whose repeated
fields hold the entries of both. `metadata_props` of a ModelProto is repeated, so a verdict can be
added to a file without touching one byte that was verified, and without reading the model again.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import BinaryIO

from modelexport_api.reasons import Reason
from modelexport_exporter.core.digests import sha256_file
from modelexport_exporter.core.errors import ExportFailure
from modelexport_exporter.core.types import WrittenFile

PREFIX = "modelexport."
"""What the keys begin with."""

_METADATA_PROPS = 14
"""The number of ModelProto.metadata_props; StringStringEntryProto has key = 1, value = 2."""
_VARINT, _LENGTH_DELIMITED = 0, 2
_FIXED = {1: 8, 5: 4}
"""Bytes of numbers that have no length, by kind."""
_LONGEST_SHOWN = 80
_GROUP = (3, 4)
"""Its beginning and its end."""


def append_metadata(path: Path, facts: Mapping[str, str]) -> WrittenFile:
    """Append facts to the metadata of a serialized ModelProto; return the file as it is now."""
    with path.open("ab") as file:
        file.write(encode_metadata(facts))
    return WrittenFile(path.name, path.stat().st_size, sha256_file(path))


def check_states_nothing(path: Path) -> None:
    """Raise ExportFailure if a file states facts already that only `append_metadata` may state.

    The code of the model could write them; a reader would see two verdicts.
    """
    with path.open("rb") as file, contextlib.suppress(_NoProtobufError):  # which nobody can load
        for key in _keys(file, path.stat().st_size):
            if key.startswith(PREFIX.encode()):
                shown = key.decode(errors="replace")
                raise ExportFailure(
                    Reason.WORKER_ANSWER_INVALID,
                    f"the model's file states {shown!r}, which is stated when it is published",
                    "The model's code must not change what the exporter writes or answers.",
                )


class _NoProtobufError(Exception):
    """The bytes are no message."""


def _keys(file: BinaryIO, end: int) -> Iterator[bytes]:
    """Yield the keys of a ModelProto's metadata; nothing else of it is read."""
    for entry in _fields(file, end, _METADATA_PROPS):
        for length in _fields(file, file.tell() + entry, 1):
            yield file.read(min(length, _LONGEST_SHOWN))


def _fields(file: BinaryIO, end: int, wanted: int) -> Iterator[int]:
    """Yield the length of each such field of a message that ends there, when the file is at it."""
    while file.tell() < end:
        number, kind = _tag(file)
        if kind != _LENGTH_DELIMITED:
            _skip(file, kind)
            continue
        length = _length(file, end)
        after = file.tell() + length
        if number == wanted:
            yield length
        file.seek(after)


def _length(file: BinaryIO, end: int) -> int:
    length = _read_varint(file)
    if length > end - file.tell():
        raise _NoProtobufError
    return length


def _tag(file: BinaryIO) -> tuple[int, int]:
    tag = _read_varint(file)
    return tag >> 3, tag & 7


def _skip(file: BinaryIO, kind: int) -> None:
    """Pass over a field that has no length."""
    if kind == _VARINT:
        _read_varint(file)
    elif kind in _FIXED:
        file.seek(_FIXED[kind], os.SEEK_CUR)
    elif kind not in _GROUP:  # the fields of a group are read as the message's own
        raise _NoProtobufError


def _read_varint(file: BinaryIO) -> int:
    value = 0
    for shift in range(0, 70, 7):
        byte = file.read(1)
        if not byte:
            break
        value |= (byte[0] & 0x7F) << shift
        if byte[0] < 0x80:  # noqa: PLR2004 - the last one
            return value
    raise _NoProtobufError


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
