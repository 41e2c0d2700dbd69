"""What a run leaves behind: nothing, whether it ended or was killed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from bed import processes, runs, sweep
from bed.runs import Run


@pytest.fixture(autouse=True)
def own_parent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    return tmp_path


def gone(pid: int) -> bool:
    return not sweep.alive(sweep.identity(pid))


def test_a_closed_run_ends_its_processes_and_removes_its_directory() -> None:
    with Run.open("test") as run:
        child = run.spawn("sleep", ["sleep", "600"])
        assert child.running
    assert gone(child.pid)
    assert not run.directory.exists()


def test_a_process_that_ignores_terminate_is_killed() -> None:
    with Run.open("test") as run:
        child = run.spawn(
            "stubborn", ["sh", "-c", "trap '' TERM; echo up; while :; do sleep 1; done"]
        )
        processes.wait_until(lambda: "up" in child.last_lines(), "the trap is set")
        child.stop(grace=0.2)
        assert child.process.returncode == -signal.SIGKILL


def test_a_run_is_abandoned_once_its_owner_is_dead(own_parent: Path) -> None:
    program = (
        "import os, signal; from bed import processes; from bed.runs import Run;"
        "child = Run.open('test').spawn('child', ['sh', '-c', 'echo up; exec sleep 600']);"
        "processes.wait_until(lambda: 'up' in child.last_lines(), 'the child runs');"
        "print(child.pid, flush=True);"
        "os.kill(os.getpid(), signal.SIGKILL)"
    )
    environment = {**os.environ, "PYTHONPATH": str(Path(runs.__file__).parents[1])}
    killed = subprocess.run(
        [sys.executable, "-c", program],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    (left,) = runs.abandoned()
    assert left.parent == own_parent
    processes.wait_until(lambda: gone(int(killed.stdout)), "the child dies with its owner")
    sweep.sweep(left)
    assert runs.abandoned() == []
    assert not left.exists()


def test_a_living_run_is_not_abandoned() -> None:
    with Run.open("test") as run:
        assert runs.abandoned() == []
        assert runs.living("test") == [run.directory]


def test_a_sweep_ends_a_stray_that_works_in_the_run(own_parent: Path) -> None:
    run = Run.open("test")
    stray = subprocess.Popen(["sleep", "600"], cwd=run.directory)
    run.close()
    assert stray.wait(10) == -signal.SIGKILL


def test_a_process_that_took_over_an_id_is_left_alone() -> None:
    run = Run.open("test")
    bystander = subprocess.Popen(["sleep", "600"])
    run.record(process={"pid": bystander.pid, "started": 1})
    run.close()
    assert bystander.poll() is None
    bystander.kill()
    bystander.wait()


def test_a_record_cut_short_by_a_crash_is_read_as_far_as_it_goes() -> None:
    run = Run.open("test")
    with (run.directory / sweep.RECORD).open("a") as record:
        record.write('{"process": {"pid"')
    assert sweep.owner_alive(run.directory)
    run.close()
    assert not run.directory.exists()


def test_mounts_are_removed_innermost_first() -> None:
    mountinfo = """\
22 1 0:20 / /proc rw - proc proc rw
30 1 0:30 / /run/bed/kubelet rw - ext4 /dev/a rw
31 30 0:31 / /run/bed/kubelet/pods/x rw - tmpfs tmpfs rw
32 1 0:32 / /run/bedside rw - tmpfs tmpfs rw
"""
    assert sweep.mounts_under(Path("/run/bed"), mountinfo) == [
        "/run/bed/kubelet/pods/x",
        "/run/bed/kubelet",
    ]


def test_a_child_that_does_not_start_shows_its_last_words() -> None:
    with Run.open("test") as run:
        child = run.spawn("broken", ["sh", "-c", "echo no such flag; exit 2"])
        with pytest.raises(processes.BedError, match=r"broken ended with 2(?s:.*)no such flag"):
            processes.wait_until(lambda: False, "it answers", children=[child])
