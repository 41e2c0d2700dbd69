"""Runs a function in a process of its own, whose death is an ordinary failure.

Workers are forked from a server that has imported torch (`preload`), so that the import runs once,
while the checkpoint is fetched. A worker that is killed, exits, or exceeds the deadline ends in a
typed failure; neither it nor what it started outlives the call.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, replace
from multiprocessing import connection
from multiprocessing.connection import Connection
from multiprocessing.context import ForkServerProcess
from pathlib import Path
from typing import TypeVar

from modelexport_exporter.core import cgroup
from modelexport_exporter.core.memory import MemoryWatch
from modelexport_exporter.core.types import ReportProgress
from modelexport_exporter.isolation import child
from modelexport_exporter.isolation.conversation import Conversation
from modelexport_exporter.isolation.output_lines import OnOutput
from modelexport_exporter.isolation.sandbox.policy import Sandbox
from modelexport_exporter.isolation.sandbox.temporary import short_path
from modelexport_exporter.isolation.server import running

T = TypeVar("T")

_POLL_SECONDS = 0.2
_READ_BYTES = 65536
_LATE_SECONDS = 1.0
"""How long output is read after the answer, if there is no end of it."""
_sandbox: Sandbox | None = None
"""Of the workers that are started now."""


@contextlib.contextmanager
def sandboxed(sandbox: Sandbox) -> Iterator[None]:
    """Let every worker that this process starts in the block enter a sandbox.

    The state of the process, so that no place that starts a worker can forget it. The server that
    they are forked from runs no code of the model, and is in none.
    """
    global _sandbox  # noqa: PLW0603
    before = _sandbox
    with short_path(sandbox.temporary) as temporary:
        _sandbox = replace(sandbox, temporary=temporary)
        try:
            yield
        finally:
            _sandbox = before


@contextlib.contextmanager
def outputs_read_only() -> Iterator[None]:
    """Let workers that are started in the block read what others wrote, and not change it."""
    global _sandbox  # noqa: PLW0603
    before = _sandbox
    _sandbox = before and replace(before, writes_outputs=False)
    try:
        yield
    finally:
        _sandbox = before


def make_output(directory: Path, name: str) -> Path:
    """Return a new directory that workers may write.

    `directory`: of the export. Nothing of it but this may be written: the code and the checkpoint
    are the same for all workers. Code that still runs cannot foresee the path.
    """
    parent = _sandbox.outputs if _sandbox is not None else directory
    return Path(tempfile.mkdtemp(prefix=f"{directory.name}-{name}-", dir=parent))


def remove_outputs(directory: Path) -> None:
    """Remove what workers wrote for an export of which others may follow."""
    parent = _sandbox.outputs if _sandbox is not None else directory
    for path in parent.glob(f"{directory.name}-*"):
        shutil.rmtree(path, ignore_errors=True)


def run(
    entry: str,
    arguments: tuple[object, ...],
    expected: type[T],
    *,
    on_progress: ReportProgress,
    on_output: OnOutput,
    memory: MemoryWatch,
    deadline: float | None = None,
) -> T:
    """Return what `module:function(*arguments, report)` returned in a fresh process.

    `expected`: the type of it. `deadline`: in `time.monotonic()` seconds. Raises ExportFailure if
    it does not return.
    """
    before = cgroup.read_memory()
    conversation = Conversation(expected, on_progress, on_output)
    with start_worker(child.work, (entry, arguments, expected)) as worker:
        in_time = listen(worker, conversation, memory, deadline)
        if not conversation.is_over and in_time:
            worker.process.join(_POLL_SECONDS * 10)
        exit_code = worker.process.exitcode
    return conversation.result(exit_code, before, in_time=in_time)


@dataclass(frozen=True)
class Worker:
    """A running process, and the pipes from it."""

    process: ForkServerProcess
    channel: Connection
    """Progress and the answer; calls of a resident worker in the other direction."""
    output: Connection
    """Output of it and its children."""

    def read_channel(self) -> bytes:
        """Return what is in the channel; empty at its end."""
        return _read(self.channel)


@contextlib.contextmanager
def start_worker(target: Callable[..., None], arguments: tuple[object, ...]) -> Iterator[Worker]:
    """Run a function in a forked process, which ends with the block.

    It is called as `target(*arguments, sandbox, channel, output)`.
    """
    context = multiprocessing.get_context("forkserver")
    channel, their_channel = context.Pipe()
    output, their_output = context.Pipe(duplex=False)
    process = context.Process(
        target=target, args=(*arguments, _sandbox, their_channel, their_output)
    )
    with channel, output, ExitStack() as ends:
        with their_channel, their_output:
            ends.enter_context(running(process))
        yield Worker(process, channel, output)


def listen(
    worker: Worker,
    conversation: Conversation[T],
    memory: MemoryWatch,
    deadline: float | None,
    *,
    stays: bool = False,
) -> bool:
    """Receive messages until the worker answered or ended; return False at the deadline.

    `stays`: whether it is resident, and has flushed its output before it answers.
    """
    open_ends = [worker.channel, worker.output]
    ended = worker.process.sentinel
    late: float | None = None
    while deadline is None or time.monotonic() < deadline:
        memory.look(worker.process.pid)
        timeout = 0 if stays and conversation.is_over else _POLL_SECONDS
        ready = connection.wait([*open_ends, ended], timeout=timeout)
        received = False
        for end in [end for end in open_ends if end in ready]:
            data = _read(end)
            received = received or bool(data)
            if not data:
                open_ends.remove(end)
            elif end is worker.channel:
                conversation.receive(data)
            else:
                conversation.receive_output(data)
        if conversation.is_over or ended in ready:
            late = late or time.monotonic() + _LATE_SECONDS
            if not received or conversation.invalid or time.monotonic() > late:
                conversation.receive_output(b"")
                return True
    return conversation.is_over


def _read(end: Connection) -> bytes:
    """Return what is in a pipe, without waiting for a message to be complete; empty at its end."""
    try:
        return os.read(end.fileno(), _READ_BYTES)
    except OSError:
        return b""
