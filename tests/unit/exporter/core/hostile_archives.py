"""Writers of small files that would take much memory."""

from __future__ import annotations

import struct
import zipfile
from pathlib import Path

_BLOCK = b"\0" * (1 << 20)
_CENTRAL = struct.Struct("<4s6H3L5H2L")


def inflating(path: Path, name: str, size: int) -> Path:
    """Write an archive of a member that inflates to `size` bytes: 1 MB for each GiB."""
    with (
        zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive,
        archive.open(name, "w", force_zip64=True) as member,
    ):
        for _ in range(size // len(_BLOCK)):
            member.write(_BLOCK)
    return path


def claiming(path: Path, name: str, size: int) -> Path:
    """Write an archive whose directory says that a member inflates to `size` bytes."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(name, b"small")
        archive.infolist()[0].file_size = size
    return path


def overlapping(path: Path, members: int) -> Path:
    """Write an archive whose members share their bytes."""
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("archive/data.pkl", _BLOCK)
        first = archive.infolist()[0]
        for number in range(members):
            again = zipfile.ZipInfo(f"archive/data/{number}")
            for field in ("header_offset", "compress_size", "file_size", "CRC"):
                setattr(again, field, getattr(first, field))
            archive.filelist.append(again)
            archive.NameToInfo[again.filename] = again
    return path


def long_directory(path: Path, members: int) -> Path:
    """Write an archive of empty members without names."""
    entry = _CENTRAL.pack(b"PK\x01\x02", *[0] * 16)
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("archive/data.pkl", b"")
    begin = path.read_bytes().index(b"PK\x01\x02")
    directory = entry * members
    end = struct.pack("<4s4H2LH", b"PK\x05\x06", 0, 0, 0xFFFF, 0xFFFF, len(directory), begin, 0)
    path.write_bytes(path.read_bytes()[:begin] + directory + end)
    return path
