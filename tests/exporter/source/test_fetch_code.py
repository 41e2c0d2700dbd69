"""Untrusted code archives: what is unpacked, and what is refused."""

from __future__ import annotations

import io
import stat
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from modelexport_api.reasons import Reason
from modelexport_exporter.core.errors import ExportFailure
from modelexport_exporter.source import fetch_code
from modelexport_exporter.storage.store import Location, Role

Place = Callable[..., Location]


def zipped(*members: tuple[str | zipfile.ZipInfo, bytes]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members:
            archive.writestr(name, content)
    return buffer.getvalue()


def link(name: str) -> zipfile.ZipInfo:
    info = zipfile.ZipInfo(name)
    info.external_attr = (stat.S_IFLNK | 0o777) << 16
    return info


def fetched(place: Place, name: str, content: bytes, tmp_path: Path) -> Path:
    where = place(name, Role.CODE)
    where.store.write(where.key, content)
    return fetch_code.fetch_code(where, tmp_path)


def test_a_zip_and_a_directory_come_out_the_same(place: Place, tmp_path: Path) -> None:
    members = {"pkg/__init__.py": b"", "pkg/model.py": b"x = 1\n"}
    for name, content in members.items():
        where = place(f"dir/{name}")
        where.store.write(where.key, content)
    where = place("dir/pkg/__pycache__/model.pyc")
    where.store.write(where.key, b"stale")
    (tmp_path / "one").mkdir()
    (tmp_path / "two").mkdir()

    unpacked = fetched(place, "code.zip", zipped(*members.items()), tmp_path / "one")
    copied = fetch_code.fetch_code(place("dir/", Role.CODE), tmp_path / "two")

    for root in (unpacked, copied):
        found = {
            path.relative_to(root).as_posix(): path.read_bytes()
            for path in root.rglob("*")
            if path.is_file()
        }
        assert found == members


@pytest.mark.parametrize(
    ("content", "said"),
    [
        pytest.param(zipped(("../evil.py", b"")), "outside of it", id="parent"),
        pytest.param(zipped(("/etc/evil.py", b"")), "outside of it", id="absolute"),
        pytest.param(zipped(("a\\..\\..\\evil.py", b"")), "outside of it", id="backslashes"),
        pytest.param(zipped((link("model.py"), b"/etc/passwd")), "link", id="link"),
        pytest.param(zipped(("a", b""), ("a/b", b"")), "below a file", id="file and directory"),
        pytest.param(b"not a zip at all", "not a zip file", id="no zip"),
        pytest.param(zipped(("a.py", b"x" * 100))[:-30], "not a zip file", id="truncated"),
    ],
)
def test_bad_archives_are_refused(place: Place, tmp_path: Path, content: bytes, said: str) -> None:
    with pytest.raises(ExportFailure) as caught:
        fetched(place, "code.zip", content, tmp_path)
    assert caught.value.reason is Reason.CODE_INVALID
    assert said in caught.value.message
    assert not (tmp_path.parent / "evil.py").exists()


def test_a_zip_bomb_is_refused_before_it_is_unpacked(
    place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fetch_code, "MAX_BYTES", 1_000_000)
    bomb = zipped(("zeros.bin", b"\0" * 2_000_000))
    assert len(bomb) < 10_000
    with pytest.raises(ExportFailure, match="allowed are"):
        fetched(place, "code.zip", bomb, tmp_path)
    assert list((tmp_path / "code").iterdir()) == []


def test_too_many_files_are_refused(
    place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fetch_code, "MAX_FILES", 2)
    with pytest.raises(ExportFailure, match="3 files"):
        fetched(place, "code.zip", zipped(*((f"{n}.py", b"") for n in range(3))), tmp_path)


@pytest.mark.parametrize(
    ("name", "said"), [("missing.zip", "was not found"), ("missing/", "has no files")]
)
def test_missing_code_is_named(place: Place, tmp_path: Path, name: str, said: str) -> None:
    where = place(name, Role.CODE)
    with pytest.raises(ExportFailure) as caught:
        fetch_code.fetch_code(where, tmp_path)
    assert caught.value.reason is Reason.CODE_INVALID
    assert said in caught.value.message
    assert where.uri in caught.value.message
