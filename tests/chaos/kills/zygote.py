"""Pods as forks of a process that has imported torch, which takes 7 of a run's 9 CPU seconds.

    python -m chaos.kills.zygote

Each line of standard input is a JSON list, [LOG, ENVIRONMENT]: a fork becomes the pod's process,
with its standard error in LOG. The answers are two lines: its process ID, and its exit code. Its
fork server is a fork, too, of what the pod's process would have executed; all else is the product.
"""

from __future__ import annotations

import ctypes
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from multiprocessing import util
from pathlib import Path
from typing import Any

from bed.processes import ask
from modelexport_exporter.core import entry_points

_PR_SET_DUMPABLE = 4
_SERVER_MODULES = (entry_points.ENDS_WITH_PARENT, entry_points.FORK_SERVER)


@dataclass
class Zygote:
    """The process whose forks are pods."""

    process: subprocess.Popen[str]

    @classmethod
    def start(cls) -> Zygote:
        """Start it, and wait for its imports."""
        credentials = {name for name in os.environ if name.startswith("AWS_")}
        process = subprocess.Popen(
            [sys.executable, "-m", __name__],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={name: value for name, value in os.environ.items() if name not in credentials},
        )
        assert process.stdout is not None
        assert process.stdout.readline(), "it ended while it imported torch"
        return cls(process)

    def fork(self, log: Path, environment: Mapping[str, str]) -> ForkedPod:
        """Return a new pod's process, while no other one runs."""
        pid = int(ask(self.process, json.dumps([str(log), dict(environment)])))
        return ForkedPod(self.process, pid)

    def close(self) -> None:
        """End it."""
        with self.process:
            self.process.kill()


class ForkedPod:
    """One pod's process, with what is used of `subprocess.Popen`."""

    def __init__(self, zygote: subprocess.Popen[str], pid: int) -> None:
        self.pid = pid
        self.returncode: int | None = None
        self._zygote = zygote
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        assert self._zygote.stdout is not None
        self.returncode = int(self._zygote.stdout.readline())

    def poll(self) -> int | None:
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        self._reader.join(timeout)
        if self.returncode is None:
            raise subprocess.TimeoutExpired("a pod", timeout or 0)
        return self.returncode


def main() -> None:
    """Fork one pod for each line."""
    import warm_workers  # noqa: F401 - torch, and all that a worker needs

    print("ready", flush=True)
    for line in sys.stdin:
        log, environment = json.loads(line)
        pod = os.fork()
        if pod == 0:
            _become_pod(log, environment)
        print(pod, flush=True)
        print(os.waitstatus_to_exitcode(os.waitpid(pod, 0)[1]), flush=True)


def _become_pod(log: str, environment: Mapping[str, str]) -> None:
    code = 70
    try:
        os.environ.clear()
        os.environ.update(environment)
        tempfile.tempdir = None
        output = os.open(log, os.O_WRONLY)
        os.dup2(output, 2)
        os.dup2(os.open(os.devnull, os.O_RDWR), 0)
        os.dup2(0, 1)
        util.spawnv_passfds = _fork_server  # type: ignore[assignment]
        from modelexport_exporter.__main__ import main as run_pod

        code = run_pod()
        sys.stderr.flush()
    finally:
        os._exit(code)


_spawn = util.spawnv_passfds


def _fork_server(program: Any, arguments: Any, descriptors: Any) -> int:  # noqa: ANN401
    """Fork what would execute the fork server; execute all else."""
    if "multiprocessing.forkserver" not in arguments[-1]:
        return _spawn(program, arguments, descriptors)
    pid = os.fork()
    if pid:
        return pid
    try:
        kept = {0, 1, 2, *descriptors}
        for descriptor in [int(path.name) for path in Path("/proc/self/fd").iterdir()]:
            if descriptor not in kept:
                _close(descriptor)
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            signal.signal(number, signal.SIG_DFL)
        ctypes.CDLL(None).prctl(_PR_SET_DUMPABLE, 1, 0, 0, 0)
        for name in _SERVER_MODULES:
            sys.modules.pop(name, None)
        exec(arguments[-1], {})
    finally:
        os._exit(1)


def _close(descriptor: int) -> None:
    try:
        os.close(descriptor)
    except OSError:
        return


if __name__ == "__main__":
    main()
