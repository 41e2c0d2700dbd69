from __future__ import annotations

import multiprocessing
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from modelexport_exporter.core.locked_directory import private_parent
from modelexport_exporter.isolation import socket_directory
from modelexport_exporter.storage.workspace import workspace

START = """
import os, sys
from modelexport_exporter.isolation.server import start_server
start_server(())
print("started", flush=True)
sys.stdin.readline()
"""


@pytest.fixture
def temporary() -> Iterator[Path]:
    """A directory with a short path: that of a socket has 107 bytes at most."""
    with tempfile.TemporaryDirectory() as place:
        yield Path(place)


@pytest.fixture
def started(temporary: Path) -> subprocess.Popen[str]:
    """A process with a fork server, whose temporary files are in a directory of their own."""
    process = subprocess.Popen(
        [sys.executable, "-c", START],
        env={**os.environ, "TMPDIR": str(temporary)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "started\n"
    return process


def sockets(place: Path) -> list[Path]:
    return [path for path in place.rglob("*") if path.is_socket()]


def test_an_orderly_end_leaves_nothing(started: subprocess.Popen[str], temporary: Path) -> None:
    assert len(sockets(temporary)) == 1
    started.communicate("end\n")
    assert [*(temporary / private_name()).iterdir()] == []
    assert sockets(temporary) == []


def test_the_next_run_removes_that_of_a_killed_process(
    started: subprocess.Popen[str], temporary: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    started.send_signal(signal.SIGKILL)
    started.communicate()
    assert len(sockets(temporary)) == 1
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    with workspace(temporary / "work"):
        pass
    assert sockets(temporary) == []


def test_one_of_a_process_that_runs_stays(
    started: subprocess.Popen[str], temporary: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    with workspace(temporary / "work"):
        pass
    assert len(sockets(temporary)) == 1
    started.communicate("end\n")


def test_a_path_that_is_too_long_for_a_socket_is_not_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config: dict[str, str] = vars(multiprocessing.current_process())["_config"]
    monkeypatch.delitem(config, "tempdir", raising=False)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / ("long" * 30)))
    socket_directory.choose_socket_directory()
    assert "tempdir" not in config


def private_name() -> str:
    return private_parent().name
