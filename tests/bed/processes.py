"""Child processes that say why they did not start and never outlive the test that needs them.

Each child leads a session of its own, so that its whole group can be ended; it writes to a log
file; and the kernel kills it when the thread that started it dies, whatever happened to pytest.
"""

from __future__ import annotations

import contextlib
import os
import random
import signal
import socket
import subprocess
import time
import urllib.request
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

_LOG_LINES_SHOWN = 30
PORTS = range(15_000, 30_000)
"""Below those that Linux gives to connections: one of these could take a port before its server."""


class BedError(RuntimeError):
    """A part of the test bed did not do what it must; the message shows its last log lines."""


class Process(Protocol):
    """What the bed uses of `subprocess.Popen`."""

    pid: int
    returncode: int | None

    def poll(self) -> int | None: ...

    def wait(self, timeout: float | None = None) -> int: ...

    def terminate(self) -> None: ...


@dataclass(frozen=True)
class Child:
    """A running process of the bed."""

    name: str
    process: Process
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
    seconds: float = 180.0,
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
    if done.returncode:
        errors = (done.stderr.strip() or done.stdout.strip()).splitlines()
        said = "\n".join(errors[-_LOG_LINES_SHOWN:])
        raise BedError(f"`{' '.join(words[:4])} …` ended with {done.returncode}: {said}")
    return done.stdout


def ask(process: subprocess.Popen[str], question: str) -> str:
    """Return the line with which a process answers this line; both of its pipes are open."""
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(f"{question}\n")
    process.stdin.flush()
    return process.stdout.readline()


def answers(url: str) -> bool:
    """Return whether a server answers a GET with a status below 400 within a second."""
    try:
        with urllib.request.urlopen(url, timeout=1):
            return True
    except OSError:
        return False


def free_port(preferred: int = 0) -> int:
    """A TCP port that nobody listens on now, at any address: PREFERRED, or any of PORTS.

    A port of one address that is free there is of no use to a server of all addresses, such as the
    operator, when another part of the bed listens on it at the address of the node.
    """
    # Of the system: tests seed the generator of their process, and two that are seeded alike clash.
    draw = random.SystemRandom()
    for port in (preferred or draw.choice(PORTS), *draw.sample(PORTS, 100)):
        with socket.socket() as probe:
            # As servers do: a port whose last connections are closing can be listened on.
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            with contextlib.suppress(OSError):
                probe.bind(("", port))
                return port
    raise BedError(f"no free port in {PORTS.start}–{PORTS.stop - 1}")


def _signal_group(leader: int, number: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(leader, number)
