"""Runs a function in a process of its own, whose death is an ordinary failure.

Workers are forked from a server that has imported torch (`preload`), so that the import runs once,
while the checkpoint is fetched. A worker that is killed, exits, or exceeds the deadline ends in a
typed failure; it never outlives the supervisor.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from multiprocessing import connection, forkserver
from multiprocessing.connection import Connection
from multiprocessing.context import ForkServerProcess
from typing import Any

from modelexport_api.status import Stage
from modelexport_exporter.core import cgroup, entry_points
from modelexport_exporter.core.errors import ExportFailure
from modelexport_exporter.core.memory import MemoryWatch
from modelexport_exporter.core.types import FactoryProgress, LibraryImport, ReportProgress
from modelexport_exporter.isolation import child
from modelexport_exporter.isolation.death import Death, deadline_exceeded, explain, internal_error
from modelexport_exporter.isolation.output_lines import OutputLines
from modelexport_exporter.isolation.shared_libraries import LIBRARIES_ENV, encode

OnOutput = Callable[[str], None]
"""Called with each line that a worker printed."""

_POLL_SECONDS = 0.2
_TAIL_LINES = 20
_READ_BYTES = 65536


def start_server(
    preload: Sequence[str] = (entry_points.PRELOAD,), libraries: Sequence[LibraryImport] = ()
) -> None:
    """Start the fork server, which imports the modules of workers; return at once.

    `libraries`: those of the user's code, for a preload that imports them, too.

    Main thread only. The server starts without credentials, because a process's initial environment
    stays readable in /proc, for it and for its forks, even if variables are deleted later.
    """
    multiprocessing.get_context("forkserver").set_forkserver_preload(
        [entry_points.FORK_SERVER, *preload]
    )
    credentials = {name: os.environ.pop(name) for name in _credentials()}
    if libraries:
        os.environ[LIBRARIES_ENV] = encode(libraries)
    try:
        forkserver.ensure_running()
    finally:
        os.environ.pop(LIBRARIES_ENV, None)
        os.environ.update(credentials)


def _credentials() -> list[str]:
    return [name for name in os.environ if name.startswith(child.CREDENTIALS)]


@dataclass
class Conversation:
    """The messages of a worker so far."""

    on_progress: ReportProgress
    on_output: OnOutput
    stage: Stage | None = None
    in_factory: bool = False
    answer: tuple[Any, ...] | None = None
    tail: deque[str] = field(default_factory=lambda: deque(maxlen=_TAIL_LINES))
    output: OutputLines = field(default_factory=OutputLines)

    def receive(self, message: tuple[Any, ...]) -> None:
        """Handle a message: progress, or the answer."""
        if message[0] != child.PROGRESS:
            self.answer = message
            return
        _, self.stage, fraction, text = message
        self.in_factory = isinstance(text, FactoryProgress)
        self.on_progress(self.stage, fraction, text)

    def receive_output(self, data: bytes) -> None:
        """Handle printed data; empty data ends the output."""
        for line in self.output.feed(data) if data else self.output.end():
            self.tail.append(line)
            self.on_output(line)


def run(
    entry: str,
    arguments: tuple[object, ...],
    *,
    on_progress: ReportProgress,
    on_output: OnOutput,
    memory: MemoryWatch,
    deadline: float | None = None,
) -> object:
    """Return what `module:function(*arguments, report)` returned in a fresh process.

    `deadline`: in `time.monotonic()` seconds. Raises ExportFailure if it does not return.
    """
    before = cgroup.read_memory()
    conversation = Conversation(on_progress, on_output)
    with start_worker(child.work, (entry, arguments)) as worker:
        in_time = listen(worker, conversation, memory, deadline)
        if conversation.answer is None and in_time:
            worker.process.join(_POLL_SECONDS * 10)
        exit_code = worker.process.exitcode
    if conversation.answer is None and not in_time:
        raise deadline_exceeded(conversation.stage)
    return take_answer(conversation, exit_code, before)


def take_answer(conversation: Conversation, exit_code: int | None, before: cgroup.Memory) -> object:
    """Return the worker's result. Raises the ExportFailure for any other answer, or for its death.

    `exit_code`: of a process that ended without an answer. `before`: memory before the call.
    """
    answer = conversation.answer
    if answer is None:
        death = Death(
            exit_code=exit_code,
            stage=conversation.stage,
            in_factory=conversation.in_factory,
            before=before,
            after=cgroup.read_memory(),
            output=tuple(conversation.tail),
        )
        raise explain(death)
    kind, *content = answer
    if kind == child.RESULT:
        return content[0]
    if kind == child.FAILURE:
        failure: ExportFailure = content[0]
        failure.stage = failure.stage or conversation.stage
        raise failure
    message, text = content
    for line in text.splitlines():
        conversation.on_output(line)
    raise internal_error(message, conversation.stage)


@dataclass(frozen=True)
class Worker:
    """A running process, and the pipes from it."""

    process: ForkServerProcess
    channel: Connection
    """Progress and the answer; calls of a resident worker in the other direction."""
    output: Connection
    """Output of it and its children."""


@contextlib.contextmanager
def start_worker(target: Callable[..., None], arguments: tuple[object, ...]) -> Iterator[Worker]:
    """Run `target(*arguments, channel, output)` in a forked process, which ends with the block."""
    context = multiprocessing.get_context("forkserver")
    channel, their_channel = context.Pipe()
    output, their_output = context.Pipe(duplex=False)
    process = context.Process(target=target, args=(*arguments, their_channel, their_output))
    with channel, output:
        with their_channel, their_output:
            process.start()
        try:
            yield Worker(process, channel, output)
        finally:
            _end(process)


def _end(process: ForkServerProcess) -> None:
    """End the worker and all that it started."""
    if process.pid is not None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
        with contextlib.suppress(ProcessLookupError):
            os.kill(process.pid, signal.SIGKILL)
    process.join(5)


def listen(
    worker: Worker,
    conversation: Conversation,
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
    while deadline is None or time.monotonic() < deadline:
        memory.look(worker.process.pid)
        timeout = 0 if stays and conversation.answer is not None else _POLL_SECONDS
        ready = connection.wait([*open_ends, ended], timeout=timeout)
        silent = True
        for end in [end for end in open_ends if end in ready]:
            if _receive(end, worker.channel, conversation):
                silent = False
            else:
                open_ends.remove(end)
        if silent and (conversation.answer is not None or ended in ready):
            conversation.receive_output(b"")
            return True
    return conversation.answer is not None


def _receive(end: Connection, channel: Connection, conversation: Conversation) -> bool:
    """Receive the data of one pipe; return False at its end."""
    try:
        if end is channel:
            conversation.receive(channel.recv())
            return True
        data = os.read(end.fileno(), _READ_BYTES)
    except (EOFError, OSError):
        return False
    if data:
        conversation.receive_output(data)
    return bool(data)
