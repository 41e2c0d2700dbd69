"""Child processes that say why they did not start and never outlive the test that needs them.

Each child leads a session of its own, so that its whole group can be ended; it writes to a log
file; and the kernel kills it when the thread that started it dies, whatever happened to pytest.
"""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

_LOG_LINES_SHOWN = 30


class BedError(RuntimeError):
    """A part of the test bed did not do what it must; the message shows its last log lines."""


@dataclass(frozen=True)
class Child:
    """A running process of the bed."""

    name: str
    process: subprocess.Popen[bytes]
    log: Path

    @property
    def pid(self) -> int:
        return self.process.pid

    @property
    def running(self) -> bool:
        return self.process.poll() is None

    def last_lines(self) -> str:
        lines = self.log.read_text(errors="replace").splitlines()
        return "\n".join(lines[-_LOG_LINES_SHOWN:])

    def stop(self, grace: float = 10.0) -> None:
        """Ask the process group to end, then force."""
        if self.running:
            _signal_group(self.pid, signal.SIGTERM)
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.process.wait(grace)
        _signal_group(self.pid, signal.SIGKILL)
        self.process.wait()


def start(
    name: str,
    command: Sequence[str | Path],
    log: Path,
    environment: Mapping[str, str] | None = None,
) -> Child:
    """Start COMMAND with its output in LOG; it dies with the thread that called this."""
    with log.open("wb") as output:
        process = subprocess.Popen(
            ["setpriv", "--pdeathsig", "KILL", *map(str, command)],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            env={**os.environ, **(environment or {})},
            start_new_session=True,
        )
    return Child(name, process, log)


def wait_until(
    condition: Callable[[], bool],
    what: str,
    *,
    children: Sequence[Child] = (),
    seconds: float = 60.0,
) -> None:
    """Poll until CONDITION holds; fail early when one of CHILDREN is gone."""
    deadline = time.monotonic() + seconds
    while not condition():
        for child in children:
            if not child.running:
                code = child.process.returncode
                raise BedError(
                    f"{child.name} ended with {code} before {what}:\n{child.last_lines()}"
                )
        if time.monotonic() > deadline:
            logs = "\n".join(f"--- {child.name}\n{child.last_lines()}" for child in children)
            raise BedError(f"not in {seconds:.0f} s: {what}\n{logs}")
        time.sleep(0.1)


def call(command: Sequence[str | Path], *, stdin: str | None = None) -> str:
    """Run COMMAND to its end and return what it printed; its errors become a `BedError`."""
    words = [str(word) for word in command]
    done = subprocess.run(words, input=stdin, capture_output=True, text=True, check=False)
    return _output(done)


def pipe(producer: Sequence[str | Path], consumer: Sequence[str | Path]) -> str:
    """Run `PRODUCER | CONSUMER` and return what the consumer printed."""
    words = [str(word) for word in producer]
    with subprocess.Popen(words, stdout=subprocess.PIPE) as source:
        done = subprocess.run(
            [str(word) for word in consumer],
            stdin=source.stdout,
            capture_output=True,
            text=True,
            check=False,
        )
    return _output(done)


def _output(done: subprocess.CompletedProcess[str]) -> str:
    if done.returncode:
        errors = (done.stderr.strip() or done.stdout.strip()).splitlines()
        said = "\n".join(errors[-_LOG_LINES_SHOWN:])
        words = " ".join(done.args[:4])
        raise BedError(f"`{words} …` ended with {done.returncode}: {said}")
    return done.stdout


def free_port(host: str = "127.0.0.1") -> int:
    """A TCP port that nobody listens on now."""
    with socket.socket() as probe:
        probe.bind((host, 0))
        port: int = probe.getsockname()[1]
        return port


def _signal_group(leader: int, number: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(leader, number)
