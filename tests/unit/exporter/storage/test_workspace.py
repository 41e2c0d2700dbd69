from __future__ import annotations

import os
import stat
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from modelexport_api.reasons import Reason
from modelexport_exporter.core.errors import ExportFailure
from modelexport_exporter.core.locked_directory import objection, private_parent
from modelexport_exporter.storage.workspace import workspace

USER, OTHER = 1000, 1001
SHARED = 0o777
STICKY = stat.S_ISVTX | SHARED


def test_it_is_gone_afterwards_also_after_a_failure(tmp_path: Path) -> None:
    def fail_inside() -> None:
        with workspace(tmp_path / "work") as directory:
            (directory / "file").write_text("x")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail_inside()
    assert list((tmp_path / "work").iterdir()) == []


CLOSED = """
import os, sys
from pathlib import Path
from modelexport_exporter.storage.workspace import workspace
with workspace(Path(sys.argv[1])) as directory:
    (directory / "a" / "b").mkdir(parents=True)
    (directory / "a" / "b" / "file").touch()
    (directory / "a" / "link").symlink_to(sys.argv[2])
    for path in (directory / "a" / "b", directory / "a", directory):
        path.chmod(0)
"""


def test_directories_that_were_closed_to_everybody_are_removed(tmp_path: Path) -> None:
    work, outside = tmp_path / "work", tmp_path / "outside"
    outside.mkdir(mode=0o500)
    # root may enter them all, unless its capabilities are dropped, as in a pod.
    drop = ["setpriv", "--no-new-privs", "--bounding-set=-all", "--inh-caps=-all"]
    command = [*(drop if os.geteuid() == 0 else []), sys.executable, "-c", CLOSED]
    subprocess.run([*command, str(work), str(outside)], check=True)
    assert not list(work.iterdir())
    assert outside.stat().st_mode & 0o777 == 0o500


def test_a_killed_run_is_swept_and_a_living_one_is_not(tmp_path: Path) -> None:
    killed = tmp_path / "modelexport-run-killed"
    killed.mkdir()
    (killed / "lock").touch()
    ended = tmp_path / "modelexport-run-ended"
    ended.mkdir()
    strangers = tmp_path / "precious"
    strangers.mkdir()
    with workspace(tmp_path) as living, workspace(tmp_path):
        assert not killed.exists()
        assert not ended.exists()
        assert living.exists()
        assert strangers.exists()


def test_a_run_that_was_killed_at_its_start_is_swept_after_an_hour(tmp_path: Path) -> None:
    starting, left = tmp_path / ".modelexport-run-a", tmp_path / ".modelexport-run-b"
    starting.mkdir()
    left.mkdir()
    os.utime(left, (time.time() - 3700,) * 2)
    with workspace(tmp_path):
        assert starting.exists()
        assert not left.exists()


def test_parallel_starts_do_not_sweep_each_other(tmp_path: Path) -> None:
    """Of 4,000 starts 30 lost their directory between its creation and its lock."""

    def start(_: int) -> bool:
        with workspace(tmp_path) as directory:
            (directory / "file").write_text("x")
            time.sleep(0.001)
            return (directory / "file").exists()

    with ThreadPoolExecutor(16) as pool:
        assert all(pool.map(start, range(800)))
    assert list(tmp_path.iterdir()) == []


def test_a_place_that_cannot_be_written_is_typed(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(ExportFailure) as caught, workspace(tmp_path / "file" / "work"):
        pass
    assert caught.value.reason is Reason.DESTINATION_DENIED
    assert "for files in the making" in caught.value.message
    assert "--work-dir" in caught.value.hint


def found(mode: int, owner: int) -> os.stat_result:
    return os.stat_result((mode, 0, 0, 1, owner, 0, 0, 0, 0, 0))


def directory(permissions: int, owner: int) -> os.stat_result:
    return found(stat.S_IFDIR | permissions, owner)


def link(owner: int) -> os.stat_result:
    return found(stat.S_IFLNK | 0o777, owner)


@pytest.mark.parametrize(
    ("entry", "leads_to", "words"),
    [
        (directory(0o700, USER), None, None),
        (directory(0o775, USER), None, None),
        (directory(0o755, 0), None, None),
        (directory(STICKY, 0), None, None),
        (directory(STICKY, USER), None, None),
        (link(USER), directory(0o700, USER), None),
        (directory(0o700, OTHER), None, "belongs to user 1001"),
        (directory(SHARED, OTHER), None, "belongs to user 1001"),
        (directory(STICKY, OTHER), None, "belongs to user 1001"),
        (directory(SHARED, USER), None, "can be written by every user"),
        (directory(SHARED, 0), None, "can be written by every user"),
        (link(OTHER), directory(0o700, USER), "is a link that user 1001 made"),
        (link(USER), directory(0o700, OTHER), "belongs to user 1001"),
    ],
)
def test_which_directories_are_trusted(
    entry: os.stat_result, leads_to: os.stat_result | None, words: str | None
) -> None:
    assert objection(entry, leads_to or entry, USER) == words


def test_root_trusts_root_only() -> None:
    assert objection(directory(0o700, 0), directory(0o700, 0), 0) is None
    assert objection(directory(0o700, USER), directory(0o700, USER), 0) is not None


@pytest.fixture
def default(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The default place in a directory that every user may write to."""
    tmp_path.chmod(STICKY)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return private_parent()


def test_the_default_place_is_its_user_s_alone(default: Path) -> None:
    with workspace(default):
        assert stat.S_IMODE(default.stat().st_mode) == 0o700


def test_one_of_an_earlier_version_is_closed(default: Path) -> None:
    default.mkdir()
    default.chmod(0o775)
    with workspace(default):
        assert stat.S_IMODE(default.stat().st_mode) == 0o700


def assert_refused(default: Path, words: str) -> None:
    with pytest.raises(ExportFailure, match=words) as caught, workspace(default):
        pass
    assert caught.value.reason is Reason.DESTINATION_DENIED
    assert "--work-dir" in caught.value.hint


def test_a_link_at_the_default_place_is_refused(default: Path, tmp_path: Path) -> None:
    (tmp_path / "theirs").mkdir()
    default.symlink_to(tmp_path / "theirs")
    assert_refused(default, "is a link")


def test_a_place_that_every_user_can_write_to_is_refused(default: Path) -> None:
    default.mkdir()
    default.chmod(SHARED)
    assert_refused(default, "can be written by every user")
    assert list(default.iterdir()) == []


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a directory to another user")
@pytest.mark.parametrize("permissions", [0o700, 0o755, STICKY])
def test_the_place_of_another_user_is_refused(default: Path, permissions: int) -> None:
    default.mkdir()
    default.chmod(permissions)
    os.chown(default, 65534, 65534)
    assert_refused(default, "belongs to user 65534")
    assert list(default.iterdir()) == []
