"""Real worker processes, and every way in which user code can end them."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from modelexport_api.reasons import Reason
from modelexport_api.status import Stage
from modelexport_exporter.core.errors import ExportFailure
from modelexport_exporter.core.memory import MemoryWatch
from modelexport_exporter.isolation.server import start_server
from modelexport_exporter.isolation.worker import run as run_worker

ENTRY = "small_workers:act"


def run(behaviour: str, *, seconds: float = 60, output: list[str] | None = None) -> object:
    start_server(("small_workers",))
    return run_worker(
        ENTRY,
        (behaviour,),
        object,
        on_progress=lambda *_progress: None,
        on_output=(output if output is not None else []).append,
        memory=MemoryWatch(),
        deadline=time.monotonic() + seconds,
    )


def test_result_is_returned() -> None:
    assert run("") == "fine"


@pytest.mark.parametrize(
    ("behaviour", "reason", "said"),
    [
        ("exit", Reason.WORKER_DIED, "exited with code 3"),
        ("_exit", Reason.WORKER_DIED, "exited with code 4"),
        ("kill", Reason.WORKER_DIED, "SIGKILL"),
        ("segfault", Reason.WORKER_DIED, "SIGSEGV"),
        ("die in the factory", Reason.FACTORY_FAILED, "exited with code 5 while model.factory"),
        ("memory error", Reason.OUT_OF_MEMORY, "no more"),
        ("disk full", Reason.DISK_FULL, "/somewhere"),
        ("bug", Reason.INTERNAL_ERROR, "KeyError"),
        ("typed", Reason.CAPTURE_FAILED, "no"),
    ],
)
def test_every_end_has_a_reason(behaviour: str, reason: Reason, said: str) -> None:
    with pytest.raises(ExportFailure) as caught:
        run(behaviour)
    assert caught.value.reason is reason
    assert said in caught.value.message


def test_failure_keeps_its_stage() -> None:
    with pytest.raises(ExportFailure) as caught:
        run("typed")
    assert caught.value.stage is Stage.CAPTURE
    assert caught.value.hint == "yes"


def test_hanging_worker_is_killed_at_the_deadline() -> None:
    begin = time.monotonic()
    with pytest.raises(ExportFailure) as caught:
        run("hang", seconds=1)
    assert caught.value.reason is Reason.DEADLINE_EXCEEDED
    assert time.monotonic() - begin < 10


def test_output_of_user_code_arrives_line_by_line(capfd: pytest.CaptureFixture[str]) -> None:
    lines: list[str] = []
    run("print", output=lines)
    assert "to stderr" in lines
    assert "from a child" in lines
    assert any("I am no progress" in line for line in lines)
    captured = capfd.readouterr()
    assert captured.out == ""
    assert "to stderr" not in captured.err


def test_storage_credentials_do_not_reach_the_worker(monkeypatch: pytest.MonkeyPatch) -> None:
    script = (
        "import os; os.environ['AWS_SECRET_ACCESS_KEY'] = 'secret'\n"
        "from exporter.isolation import test_isolation as t\n"
        "print(t.run('credentials'))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script],
        capture_output=True,
        text=True,
        check=True,
        env=environment(),
    )
    assert done.stdout.strip() == "[]"


def environment() -> dict[str, str]:
    path = [str(Path(__file__).parents[2]), *filter(None, sys.path)]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(path)}


def test_child_processes_end_with_the_worker() -> None:
    orphan = run("orphan")
    assert isinstance(orphan, int)
    assert_gone(orphan)


def test_worker_ends_with_a_killed_supervisor(tmp_path: Path) -> None:
    script = "from exporter.isolation import test_isolation as t; t.run('hang')"
    supervisor = subprocess.Popen([sys.executable, "-c", script], env=environment())
    workers = wait_for_children(supervisor.pid)
    supervisor.kill()
    supervisor.wait()
    for worker in workers:
        assert_gone(worker)


def wait_for_children(pid: int) -> list[int]:
    """The fork server of a process, and the worker below it."""
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        grandchildren = [worker for child in children(pid) for worker in children(child)]
        if grandchildren:
            return [*children(pid), *grandchildren]
        time.sleep(0.05)
    pytest.fail("no worker was started")


def children(pid: int) -> list[int]:
    try:
        text = Path(f"/proc/{pid}/task/{pid}/children").read_text()
    except OSError:
        return []
    return [int(child) for child in text.split()]


def assert_gone(pid: int) -> None:
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline:
        try:
            state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        except OSError:
            return
        if state == "Z":
            return
        time.sleep(0.05)
    pytest.fail(f"process {pid} is still there")


CGROUP = Path("/sys/fs/cgroup")


@pytest.fixture
def small_cgroup() -> Iterator[Path]:
    """A real control group with a limit of 150 MiB; needs root."""
    v1 = (CGROUP / "memory").is_dir()
    group = (CGROUP / "memory" if v1 else CGROUP) / f"modelexport-test-{os.getpid()}"
    try:
        group.mkdir()
        limit = group / ("memory.limit_in_bytes" if v1 else "memory.max")
        limit.write_text(str(150 << 20))
    except OSError as error:
        pytest.skip(f"control groups cannot be made here: {error}; run as root")
    yield group
    remove_cgroup(group, seconds=30)


def remove_cgroup(group: Path, seconds: float) -> None:
    """Remove a control group; the kernel keeps it for a moment after its last process ended."""
    deadline = time.monotonic() + seconds
    while True:
        try:
            return group.rmdir()
        except OSError as error:
            if error.errno != errno.EBUSY or time.monotonic() > deadline:
                processes = (group / "cgroup.procs").read_text().split()
                raise AssertionError(f"{group} has processes {processes}") from error
        time.sleep(0.05)


def test_worker_killed_for_memory_is_out_of_memory(small_cgroup: Path) -> None:
    script = (
        f"import os; open('{small_cgroup}/cgroup.procs', 'w').write(str(os.getpid()))\n"
        "from modelexport_exporter.core.errors import ExportFailure\n"
        "from exporter.isolation import test_isolation as t\n"
        "try:\n    t.run('eat memory')\n"
        "except ExportFailure as failure:\n    print(failure)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script],
        capture_output=True,
        text=True,
        check=True,
        env=environment(),
    )
    assert done.stdout.startswith("OutOfMemory: the kernel killed the worker for memory")
    assert "limit 0.15 GiB, peak 0.15 GiB" in done.stdout
