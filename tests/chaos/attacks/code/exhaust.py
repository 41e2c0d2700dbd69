"""Attacks on time, memory, disk, processes and the log."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import torch
from victim import EXPORT, Attack, Net

Aim = dict[str, str]
_MANY = 300
"""Of processes: a limit of the pod would end more, and this machine has none."""


def fork_bomb(_role: str, _aim: Aim) -> None:
    """Leave many processes behind, each in a session of its own, that make more."""
    script = "import os, time\n" + "if os.fork(): os._exit(0)\nos.setsid()\n" * 2
    script += "for _ in range(4): os.fork()\ntime.sleep(600)"
    for _ in range(_MANY // 16):
        with contextlib.suppress(OSError):
            subprocess.run([sys.executable, "-S", "-c", script], check=False)


def memory_bomb(_role: str, _aim: Aim) -> None:
    """Ask for more memory than there is."""
    torch.empty(1 << 50)


def disk_bomb(_role: str, _aim: Aim) -> None:
    """Write a file that is larger than the disk."""
    with (Path(os.environ["TMPDIR"]) / "large").open("wb") as file:
        file.truncate(1 << 44)


def million_lines(_role: str, _aim: Aim) -> None:
    """Print a million lines."""
    for _ in range(1000):
        sys.stdout.write("a line that says nothing\n" * 1000)


def gigabyte_of_output(_role: str, _aim: Aim) -> None:
    """Print a gigabyte without an end of the line."""
    block = b"x" * (1 << 20)
    for _ in range(1024):
        os.write(1, block)


def never_ends(_role: str, _aim: Aim) -> None:
    """Ignore every signal that can be ignored, and go on for ever."""
    for number in range(1, 65):
        with contextlib.suppress(OSError, ValueError):
            signal.signal(number, signal.SIG_IGN)
    while True:
        time.sleep(1)


def stops_itself(_role: str, _aim: Aim) -> None:
    """Stop, with all of its group."""
    os.killpg(0, signal.SIGSTOP)


def hidden_child(role: str, _aim: Aim) -> None:
    """Leave a child that nobody knows, which holds every pipe open."""
    if role == EXPORT:
        script = "import os, time\nif os.fork(): os._exit(0)\nos.setsid()\ntime.sleep(600)"
        clean = {"PATH": os.environ.get("PATH", "")}
        subprocess.run([sys.executable, "-c", script], check=True, close_fds=False, env=clean)


def many_threads(_role: str, _aim: Aim) -> None:
    """Start threads that compute for ever."""

    def spin() -> None:
        while True:
            sum(range(1000))

    for _ in range(4):
        threading.Thread(target=spin, daemon=True).start()


def descriptors(_role: str, _aim: Aim) -> None:
    """Open as many files as it may, and give none back."""
    with contextlib.suppress(OSError):
        while True:
            os.open("/dev/null", os.O_RDONLY)
    for number in range(20000, 20100):  # a worker needs some to go on
        with contextlib.suppress(OSError):
            os.close(number)


def exits(role: str, _aim: Aim) -> None:
    """End at once, as if all were well."""
    if role == EXPORT:
        os._exit(0)


def kills_itself(_role: str, _aim: Aim) -> None:
    """Die by a signal."""
    os.kill(os.getpid(), signal.SIGSEGV)


class _Slow(Net):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Take for ever, where it is compared."""
        while True:
            time.sleep(1)


def slow_forward(role: str, _aim: Aim) -> Net | None:
    """Let the comparison take for ever."""
    return _Slow() if role != EXPORT else None


ATTACKS: dict[str, Attack] = {
    "fork bomb": fork_bomb,
    "memory bomb": memory_bomb,
    "disk bomb": disk_bomb,
    "million lines": million_lines,
    "gigabyte of output": gigabyte_of_output,
    "never ends": never_ends,
    "stops itself": stops_itself,
    "hidden child": hidden_child,
    "many threads": many_threads,
    "descriptors without end": descriptors,
    "exits": exits,
    "kills itself": kills_itself,
    "slow forward": slow_forward,
}
