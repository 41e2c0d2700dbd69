"""No archive takes much more memory than its bytes: sizes are read before anything inflates."""

from __future__ import annotations

import errno
import tracemalloc
import zipfile
from pathlib import Path

import pytest

from modelexport_exporter.core.archives import ArchiveTooLargeError, check_archive, open_archive
from unit.exporter.core import hostile_archives as hostile

GIB = 1 << 30


def test_an_archive_with_compressed_code_and_stored_weights(tmp_path: Path) -> None:
    path = tmp_path / "model.pt"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("model/data/0", b"w" * 100_000)
        archive.writestr("model/code/a.py", b"c" * 100_000, zipfile.ZIP_DEFLATED)
    check_archive(path)
    with pytest.raises(ArchiveTooLargeError, match="1 compressed members inflate to 100,000"):
        check_archive(path, 99_999)


def test_an_archive_with_many_records(tmp_path: Path) -> None:
    path = tmp_path / "model.pt"
    with zipfile.ZipFile(path, "w") as archive:  # so many that the directory is that of zip64
        for number in range(70_000):
            archive.writestr(zipfile.ZipInfo(f"model/data/{number}"), b"w")
    check_archive(path)


def refusal(path: Path) -> str:
    tracemalloc.start()
    try:
        with pytest.raises(ArchiveTooLargeError) as caught:
            check_archive(path)
        assert tracemalloc.get_traced_memory()[1] < 50 << 20
    finally:
        tracemalloc.stop()
    return str(caught.value)


def test_a_member_that_inflates(tmp_path: Path) -> None:
    path = hostile.claiming(tmp_path / "a.pt", "archive/data.pkl", 4 * GIB)
    assert "inflate to 4,294,967,296 bytes; at most 268,435,456 are read" in refusal(path)


def test_members_that_share_their_bytes(tmp_path: Path) -> None:
    path = hostile.overlapping(tmp_path / "a.pt", 4000)
    assert "they overlap" in refusal(path)


def test_a_directory_of_a_million_names(tmp_path: Path) -> None:
    path = hostile.long_directory(tmp_path / "a.pt", 1_000_000)
    assert "its directory has 46,000,000 bytes; at most 33,554,432 are read" in refusal(path)


@pytest.mark.parametrize("content", [b"", b"PK\x05\x06", b"x" * 100_000])
def test_what_is_no_archive(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "a.pt"
    path.write_bytes(content)
    with pytest.raises(zipfile.BadZipFile):
        check_archive(path)


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (NotImplementedError("compression type 99"), "compression type 99"),
        (RuntimeError("encrypted"), "encrypted"),
        (EOFError(), "EOFError"),
        (OSError(errno.EINVAL, "Invalid argument"), "before its beginning"),
    ],
)
def test_what_cannot_be_read_is_one_error(tmp_path: Path, error: Exception, text: str) -> None:
    path = tmp_path / "model.pt"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("model/data.pkl", b"N.")
    with pytest.raises(zipfile.BadZipFile, match=text), open_archive(path):
        raise error


def test_an_error_of_the_disk_stays_one(tmp_path: Path) -> None:
    path = tmp_path / "model.pt"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("model/data.pkl", b"N.")
    with pytest.raises(OSError, match="disk"), open_archive(path):
        raise OSError(errno.EIO, "disk")
