"""How many bytes of weights a checkpoint has, and how torch reads them, without downloading it.

safetensors have a header, zip files a directory at their end, and older files of torch.save a magic
number. Some ranges of the object are read, no pickle is opened, and whatever is not understood is
UNKNOWN: this decides nothing about the export, the real detection is `checkpoint/formats.py`.
"""

from __future__ import annotations

import io
import json
import struct
import zipfile
from dataclasses import dataclass

from modelexport_exporter.core.errors import ExportFailure
from modelexport_exporter.core.stored_object import StoredObject
from modelexport_exporter.source.memory_prediction import Loading
from modelexport_exporter.storage.store import Store

_LEGACY_MAGIC = b"\x8a\nl\xfc\x9cF\xf9 j\xa8P\x19."
_ZIP_MAGIC = b"PK\x03\x04"
_LENGTH = struct.Struct("<Q")
_HEAD_BYTES = 64
_MOST_READ_BYTES = 4 << 20
"""Of one file: the names of 40,000 tensors."""
_BLOCK_BYTES = 128 << 10


@dataclass(frozen=True)
class Header:
    """What the header of a checkpoint states."""

    weights_bytes: int
    loading: Loading


def read_header(store: Store, found: StoredObject) -> Header:
    """Return what is known of an object; its whole size where it states no other."""
    unknown = Header(found.size_bytes, Loading.UNKNOWN)
    try:
        head = store.read_range(found, 0, min(_HEAD_BYTES, found.size_bytes))
        if head.startswith(_ZIP_MAGIC):
            return _of_archive(store, found)
        if _LEGACY_MAGIC in head[: _HEAD_BYTES // 2]:
            return Header(found.size_bytes, Loading.COPIED)
        return _of_safetensors(store, found, head) or unknown
    except (ExportFailure, OSError, ValueError, zipfile.BadZipFile, NotImplementedError):
        return unknown  # The download, or the detection, has the reason.


def _of_safetensors(store: Store, found: StoredObject, head: bytes) -> Header | None:
    (length,) = _LENGTH.unpack_from(head) if len(head) > _LENGTH.size else (0,)
    if head[_LENGTH.size : _LENGTH.size + 1] != b"{" or not 0 < length < found.size_bytes:
        return None
    begin = _LENGTH.size
    if length > _MOST_READ_BYTES:
        return Header(found.size_bytes - length - begin, Loading.MAPPED)
    json.loads(store.read_range(found, begin, begin + length))
    return Header(found.size_bytes - length - begin, Loading.MAPPED)


def _of_archive(store: Store, found: StoredObject) -> Header:
    with zipfile.ZipFile(io.BufferedReader(_Ranges(store, found), _BLOCK_BYTES)) as archive:
        members = archive.infolist()
    # The archive has one directory at its root, of any name.
    names = {member.filename.partition("/")[2] for member in members}
    weights = sum(
        member.file_size
        for member in members
        if member.filename.partition("/")[2].startswith(("data/", "constants/", "tensors/"))
    )
    if "archive_format" in names:
        return Header(weights, Loading.UNKNOWN)
    is_script = "constants.pkl" in names and any(name.startswith("code/") for name in names)
    return Header(weights, Loading.COPIED if is_script else Loading.MAPPED)


class _Ranges(io.RawIOBase):
    """An object as a file that can be read at any place, up to a limit."""

    def __init__(self, store: Store, found: StoredObject) -> None:
        self._store = store
        self._found = found
        self._position = 0
        self._read = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        base = {io.SEEK_SET: 0, io.SEEK_CUR: self._position, io.SEEK_END: self._found.size_bytes}
        self._position = base[whence] + offset
        if self._position < 0:
            raise ValueError("a place before the beginning")
        return self._position

    def tell(self) -> int:
        return self._position

    def readinto(self, buffer: bytearray | memoryview) -> int:  # type: ignore[override]
        end = min(self._position + len(buffer), self._found.size_bytes)
        if end <= self._position:
            return 0
        self._read += end - self._position
        if self._read > _MOST_READ_BYTES:
            raise OSError("the archive's directory is too large")
        content = self._store.read_range(self._found, self._position, end)
        buffer[: len(content)] = content
        self._position += len(content)
        return len(content)
