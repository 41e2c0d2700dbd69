"""Zip archives of somebody else: opened only if reading them takes no more than they promise.

Guarantees that an archive of some megabytes cannot take gigabytes of memory: neither by members
that inflate, nor by members that share their bytes, nor by a directory of millions of names. And
that what cannot be read is one error, BadZipFile: zipfile raises eight.
"""

from __future__ import annotations

import contextlib
import errno
import lzma
import struct
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

MOST_DIRECTORY_BYTES = 32 << 20
"""Of names and places of the members: at most 700,000, which take 400 MB in Python."""
MOST_INFLATED_BYTES = 256 << 20
"""Of all compressed members together. torch stores weights as they are, and compresses code."""

_END = struct.Struct("<4s4H2LH")
_END_MAGIC = b"PK\x05\x06"
_LONGEST_COMMENT = 0xFFFF
_END_64 = struct.Struct("<4sQ2H2L4Q")
_END_64_MAGIC = b"PK\x06\x06"
_LOCATOR_64 = struct.Struct("<4sLQL")
_LOCATOR_64_MAGIC = b"PK\x06\x07"
_END_64_LIMIT = 1 << 62
"""Beyond it, no file can be read."""

_UNREADABLE = (
    NotImplementedError,
    RuntimeError,
    EOFError,
    UnicodeError,
    struct.error,
    zlib.error,
    lzma.LZMAError,
)
"""What zipfile raises for encrypted members, unknown methods and damaged bytes."""


class ArchiveTooLargeError(ValueError):
    """Reading the archive would take too much memory; the message states what was found."""


@contextlib.contextmanager
def open_archive(path: Path) -> Iterator[zipfile.ZipFile]:
    """Open an archive; whatever in it cannot be read raises BadZipFile in the block."""
    try:
        with zipfile.ZipFile(path) as archive:
            yield archive
    except _UNREADABLE as error:
        raise zipfile.BadZipFile(str(error) or type(error).__name__) from error
    except OSError as error:
        if error.errno != errno.EINVAL:  # a seek to where no file can be
            raise
        raise zipfile.BadZipFile("a place before its beginning") from error


def check_archive(path: Path, inflated: int | None = MOST_INFLATED_BYTES) -> None:
    """Raise ArchiveTooLargeError for an archive that takes far more than its bytes.

    `inflated`: the most bytes of its compressed members; None: the caller checks them. Raises
    BadZipFile for what is no archive.
    """
    directory = _directory_bytes(path)
    if directory > MOST_DIRECTORY_BYTES:
        raise ArchiveTooLargeError(
            f"its directory has {directory:,} bytes; at most {MOST_DIRECTORY_BYTES:,} are read"
        )
    with open_archive(path) as archive:
        members = archive.infolist()
    taken = sum(member.compress_size for member in members)
    size = path.stat().st_size
    if taken > size:
        raise ArchiveTooLargeError(
            f"its members claim {taken:,} bytes, the file has {size:,}: they overlap"
        )
    compressed = [member for member in members if member.compress_type != zipfile.ZIP_STORED]
    found = sum(member.file_size for member in compressed)
    if inflated is not None and found > inflated:
        raise ArchiveTooLargeError(
            f"its {len(compressed)} compressed members inflate to {found:,} bytes; at most "
            f"{inflated:,} are read"
        )


def _directory_bytes(path: Path) -> int:
    """Return the size of the directory, which zipfile reads as a whole; 0 if there is none."""
    with path.open("rb") as file:
        size = file.seek(0, 2)
        begin = max(0, size - _END.size - _LONGEST_COMMENT - _LOCATOR_64.size)
        file.seek(begin)
        tail = file.read()
        end = tail.rfind(_END_MAGIC)
        if end < 0 or len(tail) < end + _END.size:
            return 0
        found = int(_END.unpack_from(tail, end)[5])
        at = end - _LOCATOR_64.size
        if at < 0 or tail[at : at + 4] != _LOCATOR_64_MAGIC:
            return found
        # Readers differ in where they look for the record of large archives.
        named = int(_LOCATOR_64.unpack_from(tail, at)[2])
        sizes = [_end_64(file, place) for place in (named, begin + at - _END_64.size)]
        return max(sizes) if any(sizes) else found


def _end_64(file: BinaryIO, place: int) -> int:
    """Return the size of the directory in a record, 0 if there is no record."""
    if not 0 <= place < _END_64_LIMIT:
        return 0
    file.seek(place)
    record = file.read(_END_64.size)
    if len(record) < _END_64.size or not record.startswith(_END_64_MAGIC):
        return 0
    return int(_END_64.unpack(record)[8])
