"""A hostile file, and one try of a real command on it, within limits of time and memory.

A checkpoint goes through the run of a pod: supervisor, worker in its sandbox, torch. An ONNX file
goes through `modelexport inspect` and through a run of mode Verify. Code of the file would leave a
canary in /dev/shm, where also the sandbox lets it write.
"""

from __future__ import annotations

import contextlib
import io
import os
import resource
import secrets
import shutil
import signal
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from modelexport_api.reasons import Reason

MOST_SECONDS = 60.0
DEADLINE_SECONDS = 240
"""Of a run: an attempt may take half of it."""
MOST_BYTES = 1500 << 20
"""Of address space, that the process of a try takes beyond what it had before."""
FACTORY = "import torch\n\n\ndef build():\n    return torch.nn.Linear(4, 2)\n"
UNTYPED = frozenset(
    (
        Reason.INTERNAL_ERROR,
        Reason.WORKER_DIED,
        Reason.OUT_OF_MEMORY,
        Reason.DEADLINE_EXCEEDED,
        Reason.WORKER_ANSWER_INVALID,
        Reason.STORE_UNAVAILABLE,
        Reason.DISK_FULL,
    )
)
"""Reasons that say nothing of the file, or that it took too much."""


@dataclass(frozen=True)
class Hostile:
    """A file or directory, made by a function of its directory and the path of the canary."""

    kind: str
    name: str
    make: Callable[[Path, Path], Path]
    """Writes into the directory; returns the path of the checkpoint or of the ONNX file."""
    may_succeed: bool = False
    """Whether nothing in the bytes can tell that they are not what was saved."""
    may_be_described: bool = False
    """Whether `modelexport inspect` may call an ONNX file valid: it computes nothing."""


@dataclass
class Outcome:
    """How a try ended."""

    name: str
    ended: str
    seconds: float
    problems: list[str] = field(default_factory=list)
    leaks: list[str] = field(default_factory=list)
    """Code that ran, files that were written."""

    @property
    def held(self) -> bool:
        """Return whether all promises were kept."""
        return not (self.problems or self.leaks)


@contextlib.contextmanager
def laid_out(hostile: Hostile, root: Path) -> Iterator[tuple[Path, Path, Path]]:
    """Yield the directory of a try, the hostile file in it, and the canary's path."""
    directory = root / "try"
    directory.mkdir()
    nest = Path("/dev/shm") / f"modelexport-canary-{secrets.token_hex(6)}"
    nest.mkdir()
    try:
        (directory / "files").mkdir()
        yield directory, hostile.make(directory / "files", nest / "canary"), nest
    finally:
        shutil.rmtree(directory, ignore_errors=True)
        shutil.rmtree(nest, ignore_errors=True)


def seen_below(directory: Path) -> dict[str, int]:
    """Return the files below a directory, with their sizes."""
    return {str(path.relative_to(directory)): path.lstat().st_size for path in directory.rglob("*")}


def limit_address_space(most: int = MOST_BYTES) -> None:
    """Let this process take so much more address space than it has."""
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    limit = pages * os.sysconf("SC_PAGE_SIZE") + most
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))


def try_checkpoint(hostile: Hostile, root: Path) -> Outcome:
    """Export the checkpoint, as a pod does."""
    with laid_out(hostile, root) as (directory, path, nest):
        spec = {"source": {"uri": path.as_uri() + "/" * path.is_dir()}}
        return _judge(hostile, directory, nest, lambda: _run(spec, directory))


def try_verification(hostile: Hostile, root: Path, checkpoint: Path) -> Outcome:
    """Verify the ONNX file against an honest checkpoint, as a pod does."""
    with laid_out(hostile, root) as (directory, path, nest):
        spec = {
            "source": {"uri": checkpoint.as_uri()},
            "mode": "Verify",
            "artifact": {"uri": path.as_uri()},
        }
        return _judge(hostile, directory, nest, lambda: _run(spec, directory))


def try_inspection(hostile: Hostile, root: Path) -> Outcome:
    """Inspect the ONNX file, by the command."""
    from modelexport_cli.main import main

    with laid_out(hostile, root) as (directory, path, nest):
        command = ["inspect", str(path)]
        described = replace(hostile, may_succeed=hostile.may_be_described)
        return _judge(described, directory, nest, lambda: _command(main, command))


def _beside(directory: Path) -> set[str]:
    """Return what is in the directory of a try and is not the run's own."""
    return {path.name for path in directory.iterdir()} - {"work", "out"}


def _judge(
    hostile: Hostile, directory: Path, nest: Path, act: Callable[[], tuple[str, str]]
) -> Outcome:
    files = directory / "files"
    before, outside = seen_below(files), _beside(directory)
    begun = time.monotonic()
    ended, problem = act()
    outcome = Outcome(hostile.name, ended, time.monotonic() - begun)
    if problem:
        outcome.problems.append(problem)
    if ended == "Succeeded" and not hostile.may_succeed:
        outcome.problems.append("it was taken for a good one")
    if outcome.seconds > MOST_SECONDS:
        outcome.problems.append(f"took {outcome.seconds:.0f} s")
    if any(nest.iterdir()):
        outcome.leaks.append("code of the file ran")
    if seen_below(files) != before or _beside(directory) - outside:
        outcome.leaks.append("files were written")
    return outcome


def _run(spec: dict[str, Any], directory: Path) -> tuple[str, str]:
    """Return how a run ended, and what is wrong with that."""
    from modelexport_api.resource import ModelExport
    from modelexport_exporter.core.entry_points import PRELOAD
    from modelexport_exporter.core.log import JsonLog
    from modelexport_exporter.pipeline.context import Settings
    from modelexport_exporter.pipeline.run import run

    code = directory.parent / "code"
    code.mkdir(exist_ok=True)
    (code / "net.py").write_text(FACTORY)
    whole = {
        "model": {"factory": "net:build", "code": {"uri": code.as_uri() + "/"}},
        "inputs": [{"name": "x", "shape": [2, 4]}],
        "destination": {"uri": (directory / "out").as_uri() + "/"},
        "verification": {"benchmark": False},
        "activeDeadlineSeconds": DEADLINE_SECONDS,
        **spec,
    }
    head = {"apiVersion": "modelexport.dev/v1alpha1", "kind": "ModelExport"}
    manifest = ModelExport.model_validate({**head, "metadata": {"name": "x"}, "spec": whole})
    entries = "chaos.hostile_files.limited_workers"
    settings = Settings(
        directory / "work",
        export_entry=f"{entries}:export",
        verify_entry=f"{entries}:verify",
        preload=(PRELOAD, entries),
    )
    log = io.StringIO()
    result = run(manifest, settings, JsonLog(log))
    failure = result.failure
    if failure is None:
        return result.outcome, ""
    text = f"{failure.reason}: {failure.message}"
    wrong = failure.reason in UNTYPED or "Traceback" in failure.message + failure.hint
    return text, "no reason that says what is wrong with the file" if wrong else ""


def _command(main: Callable[[list[str]], int], command: list[str]) -> tuple[str, str]:
    """Return how a command ended in a fork of this process, and what is wrong with that."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        os.dup2(writing, 1)
        os.dup2(writing, 2)
        limit_address_space()
        resource.setrlimit(resource.RLIMIT_CPU, (int(MOST_SECONDS), int(MOST_SECONDS)))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        sys.stdout, sys.stderr = os.fdopen(1, "w"), os.fdopen(2, "w")
        code = 99
        with contextlib.suppress(BaseException):
            try:
                code = main(command)
            except SystemExit as leaving:
                code = leaving.code if isinstance(leaving.code, int) else 1
            except BaseException:  # noqa: BLE001 - as the interpreter would
                import traceback

                traceback.print_exc()
                code = 98
            sys.stdout.flush()
            sys.stderr.flush()
        os._exit(code)
    os.close(writing)
    with os.fdopen(reading, "rb") as output:
        text = output.read(1 << 20).decode(errors="replace")
    status = os.waitpid(child, 0)[1]
    if os.WIFSIGNALED(status):
        return signal.Signals(os.WTERMSIG(status)).name, "killed by a signal"
    code = os.waitstatus_to_exitcode(status)
    if code == 0:
        return "Succeeded", ""
    last = text.strip().splitlines()[-1][:300] if text.strip() else ""
    if "Traceback" in text or code in {98, 99} or not last or "MemoryError" in last:
        return f"exit code {code}: {last}", "no message that says what is wrong with the file"
    return f"exit code {code}: {last}", ""
