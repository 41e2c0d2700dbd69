"""Workers whose code attacks the supervisor: what they write to, start and end is not theirs."""

from __future__ import annotations

import fcntl
import json
import os
import pickle
import signal
import stat
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from modelexport_api.status import Stage
from modelexport_exporter.core.types import ReportProgress

ANSWER = b'{"kind":"result","value":"forged"}\n'


def channel() -> int:
    """The worker's only socket leads to the supervisor."""
    numbers = [int(entry.name) for entry in Path("/proc/self/fd").iterdir()]
    for number in numbers:
        try:
            if stat.S_ISSOCK(os.fstat(number).st_mode):
                return number
        except OSError:
            continue
    msg = "no channel"
    raise LookupError(msg)


def write(data: bytes, times: int = 1) -> None:
    number = channel()
    for _ in range(times):
        rest = data
        while rest:
            rest = rest[os.write(number, rest) :]


class Payload:
    """What a pickle runs where it is loaded."""

    def __init__(self, path: str) -> None:
        self.path = path

    def __reduce__(self) -> tuple[Callable[..., object], tuple[str]]:
        return os.mkdir, (self.path,)


def attack(name: str, path: str, report: ReportProgress) -> str:
    """Do it, and return an honest answer."""
    attacks: dict[str, Callable[[], object]] = {
        "none": lambda: None,
        "pickle": lambda: write(_framed(pickle.dumps(("result", Payload(path))))),
        "other type": lambda: write(b'{"kind":"result","value":{"summary":{}}}\n'),
        "second answer": lambda: write(ANSWER),
        "half an answer": lambda: write(ANSWER + b"{"),
        "a gigabyte": lambda: write(b"x" * (1 << 20), 1024),
        "nested": lambda: write(b'{"kind":' + b"[" * 100_000 + b"\n"),
        "many values": lambda: write(b'{"kind":"result","value":[' + b"{}," * 2_000_000 + b"0]}\n"),
        "drips": _drip,
        "interrupted": lambda: write(json.dumps(_failure("Interrupted")).encode() + b"\n"),
        "publishing": lambda: report(Stage.PUBLISH, 0.5, "done"),
        "not a number": lambda: write(
            b'{"kind":"progress","stage":"Load","fraction":NaN,"text":""}\n'
        ),
        "silent": lambda: os._exit(0),
        "prints for ever": lambda: _daemon("print", path),
        "prints no line": lambda: os.write(1, b"no end of line " * 5_000_000),
        "prints a million lines": lambda: print("line\n" * 1_000_000),
        "daemon": lambda: _daemon("rewrite", path),
        "daemon holds the channel": lambda: _daemon("sleep", path),
        "kills the fork server": lambda: _end_server(signal.SIGKILL, path),
        "stops the fork server": lambda: _end_server(signal.SIGSTOP, ""),
    }
    attacks[name]()
    return "honest"


def _framed(data: bytes) -> bytes:
    """As multiprocessing frames its messages."""
    return len(data).to_bytes(4, "big") + data + b"\n"


def _failure(reason: str) -> dict[str, object]:
    return {
        "kind": "failure",
        "of": "ExportFailure",
        "reason": reason,
        "message": "",
        "hint": "",
        "stage": None,
        "ops": [],
        "sources": [],
        "pitfalls": [],
    }


def _drip() -> None:
    while True:
        write(b" ")
        time.sleep(0.01)


def _end_server(number: signal.Signals, path: str) -> None:
    if path:
        _daemon("rewrite", path)
    os.kill(os.getppid(), number)
    time.sleep(0.2)


def _daemon(kind: str, path: str) -> None:
    """Leave the session twice over, and go on."""
    code = {
        "rewrite": f"while True:\n  open({path!r}, 'a').write('x'); time.sleep(0.01)",
        "print": "while True:\n  print('x' * 1000)",
        "sleep": "time.sleep(600)",
    }[kind]
    script = f"import os, time\nos.setsid()\nif os.fork(): os._exit(0)\nos.setsid()\n{code}"
    subprocess.run([sys.executable, "-c", script], check=True, close_fds=False)
    deadline = time.monotonic() + 10
    while kind == "rewrite" and not Path(path).exists() and time.monotonic() < deadline:
        time.sleep(0.01)


class Resident:
    """Answers twice to its first call."""

    def call(self, name: str, _report: ReportProgress) -> str:
        if name == "twice, later" and not os.fork():
            time.sleep(0.3)
            write(ANSWER)
            os._exit(0)
        if name == "deaf":
            time.sleep(600)
        return name


def writable_pipes(_report: ReportProgress) -> int:
    """How many pipes and sockets it can write to, its output apart."""
    found = set()
    for entry in list(Path("/proc/self/fd").iterdir()):
        number = int(entry.name)
        try:
            mode, flags = os.fstat(number).st_mode, fcntl.fcntl(number, fcntl.F_GETFL)
        except OSError:
            continue
        pipe = stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode)
        if pipe and flags & os.O_ACCMODE != os.O_RDONLY:
            found.add(os.fstat(number).st_ino)
    return len(found - {os.fstat(1).st_ino})
