"""Replicas as forks of a process that has imported the operator, which takes 2.3 s of CPU.

    python -m cluster.operator.forked

Each line of standard input is a JSON list. `["start", LOG, ARGUMENTS, ENVIRONMENT]` forks a replica
that leads a session of its own; the answer is a line with its process ID. `["poll", PID]` is
answered with its exit code, negative for a signal, or null while it runs. A replica dies with this
process. A replica that fails, as a leader does that cannot renew its Lease while the machine
stands still, starts again in its process: the kubelet restarts its container.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
import traceback
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from bed.processes import ask
from modelexport_exporter.isolation.prctl import die_with_parent
from modelexport_operator.__main__ import main as run_operator
from modelexport_operator.app import FAILED

BROKEN = 70
"""The exit code of a replica that ends with an error which the operator does not expect."""
_PAUSE = 0.02


@dataclass
class Forker:
    """The process whose forks are replicas, from the test that starts them."""

    process: subprocess.Popen[str]

    @classmethod
    def start(cls, log: Path, environment: Mapping[str, str] | None = None) -> Forker:
        with log.open("wb") as output:
            process = subprocess.Popen(
                ["setpriv", "--pdeathsig", "KILL", sys.executable, "-m", __name__],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=output,
                text=True,
                # The packages of this process, which may be those of another checkout than .venv's.
                env={
                    **os.environ,
                    "PYTHONPATH": os.pathsep.join(sys.path),
                    **(environment or {}),
                },
            )
        return cls(process)

    def fork(
        self, log: Path, arguments: Sequence[object], environment: Mapping[str, str]
    ) -> ForkedProcess:
        """Return a new replica."""
        started = ["start", str(log), [str(argument) for argument in arguments], dict(environment)]
        return ForkedProcess(self, int(self.ask(started)))

    def ask(self, question: list[Any]) -> Any:  # noqa: ANN401 - JSON
        return json.loads(ask(self.process, json.dumps(question)))

    def close(self) -> None:
        self.process.kill()
        self.process.wait()
        for pipe in (self.process.stdin, self.process.stdout):
            if pipe is not None:
                pipe.close()


@dataclass
class ForkedProcess:
    """One replica, with what `subprocess.Popen` offers."""

    forker: Forker
    pid: int
    returncode: int | None = None

    def poll(self) -> int | None:
        if self.returncode is None:
            self.returncode = self.forker.ask(["poll", self.pid])
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        deadline = None if timeout is None else time.monotonic() + timeout
        while (code := self.poll()) is None:
            if deadline is not None and time.monotonic() > deadline:
                raise subprocess.TimeoutExpired(f"replica {self.pid}", timeout or 0.0)
            time.sleep(_PAUSE)
        return code

    def terminate(self) -> None:
        if self.poll() is None:
            os.kill(self.pid, signal.SIGTERM)


def _run_replica(log: str, arguments: list[str], environment: dict[str, str]) -> int:
    os.setsid()
    die_with_parent()
    os.environ.update(environment)
    output = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    nothing = os.open(os.devnull, os.O_RDONLY)
    for source, target in ((nothing, 0), (output, 1), (output, 2)):
        os.dup2(source, target)
    code = _run_operator(arguments)
    sys.stdout.flush()
    sys.stderr.flush()
    if code == FAILED:
        os.execv(sys.executable, [sys.executable, "-m", "modelexport_operator", *arguments])
    return code


def _run_operator(arguments: list[str]) -> int:
    try:
        return run_operator(arguments)
    except SystemExit as ended:
        return ended.code if isinstance(ended.code, int) else BROKEN
    except BaseException:  # noqa: BLE001 - the log is all that a replica leaves
        traceback.print_exc()
        return BROKEN


def _answer(question: list[Any]) -> int | None:
    match question:
        case ["start", log, arguments, environment]:
            replica = os.fork()
            if replica == 0:
                os._exit(_run_replica(log, arguments, environment))
            return replica
        case ["poll", pid]:
            ended, status = os.waitpid(pid, os.WNOHANG)
            return os.waitstatus_to_exitcode(status) if ended else None
    raise ValueError(question)


def main(questions: IO[str], answers: IO[str]) -> None:
    for line in questions:
        answers.write(json.dumps(_answer(json.loads(line))) + "\n")
        answers.flush()


if __name__ == "__main__":
    main(sys.stdin, sys.stdout)
