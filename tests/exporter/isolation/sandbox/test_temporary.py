"""Temporary files of a run whose directory has a long path: code that needs sockets goes on."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from exporter.isolation.sandbox.test_attacks import run, spec
from modelexport_api.isolation import Isolation
from modelexport_exporter.isolation.sandbox import temporary
from modelexport_exporter.isolation.sandbox.enter import sandbox_for
from modelexport_exporter.isolation.sandbox.temporary import LONGEST_BYTES, short_path

WORK_DIR_BYTES = 120


@pytest.fixture
def work_dir(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Path]:
    """A directory with a long path, links of other tests apart."""
    with tempfile.TemporaryDirectory(prefix="s") as places:
        monkeypatch.setattr(temporary, "_PLACES", (places,))
        monkeypatch.setattr(tempfile, "tempdir", places)
        long = tmp_path / "x"
        long = long.with_name("x" * (WORK_DIR_BYTES - len(str(tmp_path)) - 1))
        long.mkdir()
        assert len(str(long)) == WORK_DIR_BYTES
        yield long


def links() -> list[Path]:
    return [*Path(tempfile.gettempdir()).glob(f"{temporary.PREFIX}*")]


@pytest.mark.usefixtures("torch_workers")
def test_a_loader_with_workers_needs_sockets_below_a_long_path(work_dir: Path) -> None:
    begun = time.monotonic()
    found = run(sandbox_for(spec(isolation=Isolation.REQUIRED), work_dir), "ordinary")
    assert isinstance(found, dict)
    assert (found["loaded"], found["spawned"]) == (sum(range(8)), 0)
    assert time.monotonic() - begun < 240  # the deadline of the worker
    assert not links()


def test_a_short_path_is_used_as_it_is() -> None:
    with short_path(Path("/runs/one/tmp")) as path:
        assert path == Path("/runs/one/tmp")


def test_a_link_lasts_as_long_as_its_run(work_dir: Path) -> None:
    with short_path(work_dir) as path, short_path(work_dir) as other:
        assert path.resolve() == other.resolve() == work_dir
        assert len(str(path)) <= LONGEST_BYTES
        assert len(links()) == 2
    assert not links()


def test_the_link_of_a_killed_run_is_removed_by_the_next_one(work_dir: Path) -> None:
    killed = short_path(work_dir)
    left = killed.__enter__()
    (Path(tempfile.gettempdir()) / "mx-a-file").touch()
    with short_path(work_dir):
        assert left.is_symlink(), "its run may still be alive"
    work_dir.rmdir()  # as the next run removes the directory of a dead one
    with short_path(work_dir.with_name("y" * 100)):
        assert not left.is_symlink()
    assert [path.name for path in links()] == ["mx-a-file"]


def test_without_a_place_for_a_link_it_is_the_path_itself(
    work_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(temporary, "_PLACES", ())
    monkeypatch.setattr(tempfile, "tempdir", str(work_dir))
    with short_path(work_dir) as path:
        assert path == work_dir
