"""User code that attacks the supervisor from its worker: each attack is a typed failure."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from exporter.isolation.test_isolation import environment
from modelexport_api.reasons import Reason
from modelexport_exporter.core.errors import ExportFailure
from modelexport_exporter.core.memory import MemoryWatch
from modelexport_exporter.isolation import descendants, output_lines, server, worker
from modelexport_exporter.isolation.resident import Resident


@pytest.fixture(autouse=True, scope="module")
def _warm(tmp_path_factory: pytest.TempPathFactory) -> None:
    """The server that other tests started may still import torch: no deadline is about that."""
    assert attack("none", tmp_path_factory.mktemp("warm"), seconds=300) == "honest"


def attack(name: str, path: Path, seconds: float = 30, output: list[str] | None = None) -> str:
    server.start_server(("hostile_workers",))
    return worker.run(
        "hostile_workers:attack",
        (name, str(path)),
        str,
        on_progress=lambda *_: None,
        on_output=(output if output is not None else []).append,
        memory=MemoryWatch(),
        deadline=time.monotonic() + seconds,
    )


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("pickle", "Invalid JSON"),
        ("other type", "valid string"),
        ("second answer", "more than one answer"),
        ("half an answer", "more than one answer"),
        ("a gigabyte", "more than 64 MiB"),
        ("nested", "recursion limit"),
        ("many values", "values"),
        ("interrupted", "reason Interrupted"),
        ("publishing", "publishing"),
        ("not a number", "finite number"),
    ],
)
def test_what_is_no_answer_is_a_typed_failure(name: str, found: str, tmp_path: Path) -> None:
    with pytest.raises(ExportFailure, match=found) as caught:
        attack(name, tmp_path / "pwned")
    assert caught.value.reason is Reason.WORKER_ANSWER_INVALID
    assert not (tmp_path / "pwned").exists()


@pytest.mark.parametrize(
    ("name", "reason"),
    [("silent", Reason.WORKER_DIED), ("drips", Reason.DEADLINE_EXCEEDED)],
)
def test_silence_has_a_reason(name: str, reason: Reason, tmp_path: Path) -> None:
    with pytest.raises(ExportFailure) as caught:
        attack(name, tmp_path, seconds=1)
    assert caught.value.reason is reason


@pytest.mark.parametrize("name", ["prints for ever", "prints no line"])
def test_output_without_an_end_delays_no_answer(name: str, tmp_path: Path) -> None:
    lines: list[str] = []
    assert attack(name, tmp_path, output=lines) == "honest"  # before its deadline
    assert max(map(len, lines), default=0) <= output_lines.LINE_BYTES + 40


def test_the_log_of_a_million_lines_is_cut(tmp_path: Path) -> None:
    lines: list[str] = []
    assert attack("prints a million lines", tmp_path, output=lines) == "honest"
    assert len(lines) == output_lines.FIRST_LINES + output_lines.LAST_LINES + 1


def test_a_daemon_that_rewrites_files_ends_with_its_worker(tmp_path: Path) -> None:
    victim = tmp_path / "model.onnx"
    assert attack("daemon", victim) == "honest"
    assert_untouched(victim)


def test_a_fork_server_that_stands_still_goes_on(tmp_path: Path) -> None:
    assert attack("stops the fork server", tmp_path) == "honest"
    assert attack("daemon holds the channel", tmp_path) == "honest"


def assert_untouched(victim: Path) -> None:
    size = victim.stat().st_size
    time.sleep(0.2)
    assert victim.stat().st_size == size


def end_the_server(victim: Path) -> None:
    """In a process of its own: a server that was started anew has not imported the same."""
    for name in ("first", "second", "third"):
        with pytest.raises(ExportFailure, match="the worker"):
            attack("kills the fork server", victim.with_name(name))
        assert_untouched(victim.with_name(name))
    assert attack("daemon", victim) == "honest"
    assert_untouched(victim)
    pid = server._SERVER.pid
    assert b"secret" not in Path(f"/proc/{pid}/environ").read_bytes()
    assert os.environ["AWS_SECRET_ACCESS_KEY"] == "secret"


def test_a_fork_server_that_was_killed_is_started_anew_without_credentials(tmp_path: Path) -> None:
    script = (
        "import sys; from pathlib import Path\n"
        "from exporter.isolation import test_hostile_workers as t\n"
        "t.end_the_server(Path(sys.argv[1]))"
    )
    subprocess.run(
        [sys.executable, "-c", script, str(tmp_path / "model.onnx")],
        check=True,
        env={**environment(), "AWS_SECRET_ACCESS_KEY": "secret"},
        timeout=60,
    )


def test_an_answer_that_was_not_asked_for_is_not_the_next_one() -> None:
    server.start_server(("hostile_workers",))
    resident = Resident("hostile_workers:Resident")
    assert _ask(resident, "twice, later") == "twice, later"
    time.sleep(0.6)
    with pytest.raises(ExportFailure, match="not asked for") as caught:
        _ask(resident, "next")
    assert caught.value.reason is Reason.WORKER_ANSWER_INVALID
    assert not resident.alive


def test_a_worker_that_reads_nothing_is_stopped_at_the_deadline() -> None:
    server.start_server(("hostile_workers",))
    resident = Resident("hostile_workers:Resident")
    resident.begin("call", ("deaf",), str)
    call = resident.begin("call", ("x" * (4 << 20),), str)
    with pytest.raises(ExportFailure) as caught:
        resident.finish(
            call,
            on_progress=lambda *_: None,
            on_output=lambda _: None,
            memory=MemoryWatch(),
            deadline=time.monotonic() + 0.5,
        )
    assert caught.value.reason is Reason.DEADLINE_EXCEEDED


def _ask(resident: Resident, name: str) -> str:
    return resident.call(
        "call",
        (name,),
        str,
        on_progress=lambda *_: None,
        on_output=lambda _: None,
        memory=MemoryWatch(),
        deadline=time.monotonic() + 30,
    )


def test_only_what_was_left_behind_is_ended(tmp_path: Path) -> None:
    """A resident that runs at the same time, and what this process started, are not touched."""
    server.start_server(("hostile_workers",))
    resident = Resident("hostile_workers:Resident")
    own = os.spawnlp(os.P_NOWAIT, "sleep", "sleep", "60")
    try:
        assert attack("daemon", tmp_path / "file") == "honest"
        assert descendants.is_running(own)
        assert _ask(resident, "still here") == "still here"
    finally:
        os.kill(own, 9)
        os.waitpid(own, 0)
        resident.close()
