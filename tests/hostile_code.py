"""What hostile code of a model tries, in a worker; each function returns what it got away with."""

from __future__ import annotations

import ctypes
import os
import resource
import signal
import socket
import subprocess
import sys
from collections.abc import Callable
from multiprocessing import reduction
from pathlib import Path
from typing import Any

from modelexport_exporter.core.types import ReportProgress

_SEIZE = 0x4206
_NEW_USER = 0x1000_0000
Aim = dict[str, Any]


def attack(name: str, aim: Aim, _report: ReportProgress) -> str:
    """Try it: `done` with what was found, or `refused` with the error."""
    try:
        return f"done {ATTACKS[name](aim)}"
    except OSError as error:
        return f"refused {error.strerror}"


def _call(function: str, *arguments: int) -> int:
    libc = ctypes.CDLL(None, use_errno=True)
    result = int(getattr(libc, function)(*arguments))
    if result == -1:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return result


def _connect(kind: socket.SocketKind) -> Callable[[Aim], object]:
    def connected(aim: Aim) -> object:
        with socket.socket(socket.AF_INET, kind) as made:
            made.connect(("127.0.0.1", aim["port"]))
            return made.getpeername()

    return connected


def _move_out(aim: Aim) -> object:
    inside = Path(aim["outputs"], "moved")
    inside.write_text("hostile")
    return inside.rename(Path(aim["outside"], "moved"))


def _by_link(aim: Aim) -> str:
    link = Path(aim["outputs"], "link")
    link.unlink(missing_ok=True)
    link.symlink_to(aim["token"])
    return link.read_text()


def _child_reads(aim: Aim) -> str:
    command = ["/bin/cat", aim["token"]]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    if done.returncode:
        raise PermissionError(13, done.stderr.rpartition(": ")[2].strip())
    return done.stdout


def _abstract(aim: Aim) -> object:
    with socket.socket(socket.AF_UNIX) as made:
        made.connect("\0" + aim["abstract"])
        return made.getpeername()


def ask_the_fork_server(address: str, _report: ReportProgress) -> str:
    """Ask the server that this process was forked from for another one, outside of the sandbox."""
    (theirs, _), (answer, their_answer) = os.pipe(), os.pipe()
    with socket.socket(socket.AF_UNIX) as client:
        client.connect(address)
        try:
            reduction.sendfds(client, [theirs, their_answer, os.dup(theirs), os.dup(theirs)])
        except OSError:
            return "refused"
    os.close(their_answer)
    return "forked" if os.read(answer, 8) else "refused"


ATTACKS: dict[str, Callable[[Aim], object]] = {
    "read the token": lambda aim: Path(aim["token"]).read_text(),
    "read the token in a child": _child_reads,
    "read the token by a link": _by_link,
    "read the claim": lambda aim: Path(aim["claim"], "other.pt").read_text(),
    "read another run": lambda aim: Path(aim["other"], "checkpoint").read_text(),
    "read the environment": lambda aim: Path(f"/proc/{aim['pid']}/environ").read_bytes(),
    "read the memory": lambda aim: os.open(f"/proc/{aim['pid']}/mem", os.O_RDONLY),
    "read the command line": lambda aim: Path(f"/proc/{aim['pid']}/cmdline").read_text(),
    "write outside": lambda aim: Path(aim["outside"], "mine").write_text("hostile"),
    "overwrite outside": lambda aim: Path(aim["outside"], "there").write_text("hostile"),
    "truncate outside": lambda aim: os.truncate(Path(aim["outside"], "there"), 0),
    "remove outside": lambda aim: Path(aim["outside"], "there").unlink(),
    "move out": _move_out,
    "overwrite the checkpoint": lambda aim: Path(aim["checkpoint"]).write_text("hostile"),
    "put a module into the code": lambda aim: Path(aim["code"], "torch.py").write_text("hostile"),
    "move the code": lambda aim: Path(aim["code"]).rename(Path(aim["outputs"], "code")),
    "remove the lock of the run": lambda aim: Path(aim["workspace"], "lock").unlink(),
    "signal": lambda aim: os.kill(aim["pid"], signal.SIGCONT),
    "trace": lambda aim: _call("ptrace", _SEIZE, aim["pid"], 0, 0),
    "limit": lambda aim: resource.prlimit(aim["pid"], resource.RLIMIT_CPU, (999, 999)),
    "new namespace": lambda _aim: _call("unshare", _NEW_USER),
    "abstract socket": _abstract,
    "TCP": _connect(socket.SOCK_STREAM),
    "UDP": _connect(socket.SOCK_DGRAM),
}


def fill_the_disk(directory: str, size: int, _report: ReportProgress) -> None:
    Path(directory, "large").write_bytes(bytes(size))


def download(_report: ReportProgress) -> None:
    """What a factory does that calls from_pretrained with the name of a model."""
    from modelexport_api.source import Model
    from modelexport_exporter.user_code.factory import find_factory

    url = {"url": "http://localhost:9/"}
    find_factory(Model(factory="urllib.request:urlopen", kwargs=url), None)()


def compiled(_report: ReportProgress) -> float:
    """Kernels are made by the system's compiler, in a directory of temporary files."""
    import torch

    function = torch.compile(lambda x: (x.sin() * 2 + x.cos()).relu().sum())
    return float(function(torch.zeros(8)))


def ordinary(_report: ReportProgress) -> dict[str, object]:
    """What code of models does every day."""
    import tempfile

    import numpy as np
    import onnxruntime
    import torch
    from torch.utils.data import DataLoader, TensorDataset

    with tempfile.NamedTemporaryFile() as file:
        file.write(b"x")
    loader = DataLoader(TensorDataset(torch.arange(8)), batch_size=4, num_workers=2)
    shared = torch.ones(3)
    shared.share_memory_()  # type: ignore[no-untyped-call]
    child = [sys.executable, "-c", "import multiprocessing as m; m.Manager().dict()"]
    return {
        "loaded": sum(int(batch.sum()) for (batch,) in loader),
        "spawned": subprocess.run(child, check=False).returncode,
        "shared": int(shared.sum()),
        "providers": bool(onnxruntime.get_available_providers()),
        "threads": float(np.ones((256, 256)).dot(np.ones((256, 256)))[0, 0]),
    }
