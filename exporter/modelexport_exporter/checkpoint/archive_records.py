"""Records of the zip archives that torch writes: their checksums, and the lengths of storages.

torch maps a checkpoint into memory and believes what its pickle says: a record that is too short
ends in the bytes of the next one, and nothing compares a record with its CRC-32. Guarantees that a
damaged checkpoint is CheckpointCorrupt: lengths before it is loaded, CRC-32 in the pass that
computes its SHA-256, before anything is published.
"""

from __future__ import annotations

import contextlib
import hashlib
import pickle
import struct
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from modelexport_api.reasons import Reason
from modelexport_exporter.core.archives import check_archive, open_archive
from modelexport_exporter.core.errors import ExportFailure

BLOCK_BYTES = 1 << 20
_MAGIC = b"PK\x03\x04"
_LOCAL_HEADER = struct.Struct("<26xHH")
"""Ends with the lengths of the name and of the extra field."""
ITEM_BYTES = {
    "DoubleStorage": 8, "FloatStorage": 4, "HalfStorage": 2, "BFloat16Storage": 2,
    "LongStorage": 8, "IntStorage": 4, "ShortStorage": 2, "CharStorage": 1, "ByteStorage": 1,
    "BoolStorage": 1, "ComplexDoubleStorage": 16, "ComplexFloatStorage": 8, "QInt8Storage": 1,
    "QUInt8Storage": 1, "QInt32Storage": 4, "UntypedStorage": 1,
}  # fmt: skip
PICKLES = ("data.pkl", "constants.pkl")
"""Of the state and the constants. A trace also describes its inputs, without their elements."""
_HINT = "Upload the checkpoint again, and compare its SHA-256 with the original's."


@dataclass(frozen=True)
class Record:
    """A member of an archive, where its own bytes are."""

    name: str
    begin: int
    size: int
    crc: int


def sha256_and_records(path: Path) -> str:
    """Return a file's digest in hex; raises ExportFailure if it is an archive of damaged records.

    Releases the interpreter while it computes.
    """
    digest = hashlib.sha256()
    with path.open("rb") as file:
        records = _records(path, file)
        checks = _Checks(path.name, records)
        file.seek(0)
        while block := file.read(BLOCK_BYTES):
            digest.update(block)
            checks.update(block)
    return digest.hexdigest()


class _Checks:
    """The CRC-32 of each record, from the bytes of the file in order."""

    def __init__(self, name: str, records: list[Record]) -> None:
        self._name = name
        self._records = records
        self._position = 0
        self._crc = 0

    def update(self, block: bytes) -> None:
        """Add bytes. Raises ExportFailure at the end of a record with another checksum."""
        begin, self._position = self._position, self._position + len(block)
        view = memoryview(block)
        while self._records and self._records[0].begin < self._position:
            record = self._records[0]
            end = record.begin + record.size
            own = view[max(record.begin - begin, 0) : end - begin]
            self._crc = zlib.crc32(own, self._crc)
            if end > self._position:
                return
            if self._crc != record.crc:
                raise _damaged(
                    self._name,
                    f"record {record.name} has CRC-32 {self._crc:08x}, the archive says "
                    f"{record.crc:08x}",
                )
            self._records.pop(0)
            self._crc = 0


def _records(path: Path, file: BinaryIO) -> list[Record]:
    """Return the records that have a checksum, in the order of their bytes.

    Empty for what is no archive. torch can be set to write 0 for all checksums.
    """
    if file.read(len(_MAGIC)) != _MAGIC:
        return []
    return [record for record in stored_records(path) if record.crc]


def stored_records(path: Path) -> list[Record]:
    """Return the records that an archive stores without compression, in the order of their bytes.

    Empty for an archive that cannot be read, which loading reports.
    """
    try:
        check_archive(path)
        with open_archive(path) as archive, path.open("rb") as file:
            records = [
                Record(entry.filename, _begin(file, entry), entry.file_size, entry.CRC)
                for entry in archive.infolist()
                if entry.file_size and entry.compress_type == zipfile.ZIP_STORED
            ]
    except (zipfile.BadZipFile, struct.error, OSError, ValueError):
        return []
    return sorted(records, key=lambda record: record.begin)


def _begin(file: BinaryIO, entry: zipfile.ZipInfo) -> int:
    """Return where a record's bytes begin, after its local header."""
    file.seek(entry.header_offset)
    name, extra = _LOCAL_HEADER.unpack(file.read(_LOCAL_HEADER.size))
    return entry.header_offset + _LOCAL_HEADER.size + int(name) + int(extra)


def check_storages(path: Path) -> None:
    """Raise ExportFailure if a storage has another length than the pickle that refers to it says.

    Nothing of the pickle is built or run. Archives that cannot be read pass: loading reports them.
    """
    try:
        with open_archive(path) as archive:
            sizes = {entry.filename: entry.file_size for entry in archive.infolist()}
            for name in sizes:
                if name.partition("/")[2] in PICKLES:
                    for storage in _storages(archive, name):
                        _check_storage(path, storage, sizes)
    except (zipfile.BadZipFile, OSError):
        return


@dataclass(frozen=True)
class _Storage:
    record: str
    size: int


def _check_storage(path: Path, storage: _Storage, sizes: dict[str, int]) -> None:
    found = sizes.get(storage.record, storage.size)  # loading reports one that is missing
    if found != storage.size:
        raise _damaged(
            path.name,
            f"record {storage.record} has {found} bytes, its storage has {storage.size}",
        )


def _storages(archive: zipfile.ZipFile, name: str) -> Iterator[_Storage]:
    """Yield the storages that a pickle of the archive refers to."""
    reader = _Reader(archive.open(name))
    with contextlib.suppress(Exception):  # what was read so far counts; loading reports the rest
        reader.load()
    directory = name.removesuffix(".pkl")
    for kind, key, count in reader.found:
        if kind in ITEM_BYTES:
            yield _Storage(f"{directory}/{key}", count * ITEM_BYTES[kind])


class _Anything(dict[Any, Any]):
    """What each global of the pickle stands for here: it takes everything, and does nothing."""

    def __new__(cls, *_args: object, **_kwargs: object) -> Any:  # noqa: ANN401
        return super().__new__(cls)

    def __init__(self, *_args: object, **_kwargs: object) -> None:
        super().__init__()

    def __setstate__(self, _state: object) -> None:
        """Take the state, and forget it."""

    def append(self, _value: object) -> None:
        """Take an element, and forget it."""

    extend = add = append


class _Reader(pickle.Unpickler):
    """Notes the storages of a pickle, and builds nothing but plain containers."""

    def __init__(self, file: Any) -> None:  # noqa: ANN401
        super().__init__(file)
        self.found: list[tuple[str, str, int]] = []

    def find_class(self, _module: str, name: str) -> Any:  # noqa: ANN401
        """Return a class of the global's name that does nothing."""
        return type(name, (_Anything,), {})

    def persistent_load(self, saved: Any) -> Any:  # noqa: ANN401
        """Note `("storage", FloatStorage, key, location, count)`."""
        match saved:
            case ("storage", type() as kind, str(key), _, int(count), *_):
                self.found.append((kind.__name__, key, count))
        return _Anything()


def _damaged(name: str, what: str) -> ExportFailure:
    return ExportFailure(Reason.CHECKPOINT_CORRUPT, f"{name} is damaged: {what}", _HINT)
