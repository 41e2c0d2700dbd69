"""What a lock pins."""

from __future__ import annotations

from pathlib import Path

import pytest

from release import locks
from release.errors import ReleaseError

ROOT = Path(__file__).parents[3]
HASH = "0" * 64


@pytest.mark.parametrize("name", ["operator", "exporter", "exporter-cpu", "dev"])
def test_every_requirement_of_our_locks_is_read(name: str) -> None:
    lock = ROOT / f"requirements/{name}.txt"
    lines = [line for line in lock.read_text().splitlines() if line[:1].isalnum()]
    pins = locks.read(lock)
    assert len(pins) == len(lines) > 10
    assert all(pin.hashes for pin in pins)
    assert sum(len(pin.hashes) for pin in pins) == lock.read_text().count("--hash=sha256:")


@pytest.mark.parametrize(
    ("marker", "expected"),
    [
        ("", True),
        ("sys_platform == 'linux'", True),
        ("sys_platform == 'win32'", False),
        ("platform_system == 'Windows' or os_name == 'nt'", False),
    ],
)
def test_packages_for_linux(marker: str, expected: bool) -> None:
    assert locks.Pin("some", "1", marker, (HASH,)).on_linux() is expected


@pytest.mark.parametrize("line", ["some==1", "some>=1 --hash=sha256:" + HASH, "-e ."])
def test_what_is_not_pinned_stops_the_release(line: str, tmp_path: Path) -> None:
    (tmp_path / "lock.txt").write_text(line + "\n")
    with pytest.raises(ReleaseError, match=r"LockNotPinned: lock\.txt has"):
        locks.read(tmp_path / "lock.txt")
