"""A resident worker: an object in a process of its own, whose methods the supervisor calls.

Later checkpoints reuse its imports, the user's code and a translated graph. A call ends like a
worker's function: with an answer, an ExportFailure, or the death of the process, after which the
resident cannot be called again.
"""

from __future__ import annotations

import contextlib
import threading
from contextlib import ExitStack
from dataclasses import dataclass
from multiprocessing.connection import Connection
from typing import Generic, TypeVar

from modelexport_exporter.core import cgroup
from modelexport_exporter.core.memory import MemoryWatch
from modelexport_exporter.core.types import ReportProgress
from modelexport_exporter.isolation import child, server
from modelexport_exporter.isolation.conversation import Conversation
from modelexport_exporter.isolation.death import invalid_answer
from modelexport_exporter.isolation.output_lines import OnOutput
from modelexport_exporter.isolation.worker import Worker, listen, start_worker

T = TypeVar("T")


@dataclass(frozen=True)
class Call(Generic[T]):
    """A call that was begun."""

    expected: type[T]
    out_of_turn: bool
    """Whether something had arrived before it was begun."""


class Resident:
    """An object of `module:Class()` in a process of its own. One call at a time."""

    def __init__(self, entry: str, *channels: Connection) -> None:
        """Start the process; `channels`: to other workers, the arguments of the class."""
        self._held = ExitStack()
        started = start_worker(child.serve, (entry, channels))
        self._worker: Worker | None = self._held.enter_context(started)
        self._memory_before = cgroup.read_memory()

    @property
    def alive(self) -> bool:
        """Return whether it can be called."""
        return self._worker is not None and self._worker.process.is_alive()

    def begin(self, method: str, arguments: tuple[object, ...], expected: type[T]) -> Call[T]:
        """Start a call, and return it; `expected`: the type of its answer."""
        worker = self._running
        self._memory_before = cgroup.read_memory()
        # Nothing was asked: what is there now would be taken for the answer of this call.
        spoke = worker.channel.poll(0) and bool(worker.read_channel())

        def send() -> None:
            # It ended, as listen() finds out, or was closed meanwhile.
            with contextlib.suppress(OSError, TypeError):
                worker.channel.send((method, arguments, expected))

        if not spoke:
            # In a thread: a worker that does not read must not stop this process.
            threading.Thread(target=send, daemon=True).start()
        return Call(expected, out_of_turn=spoke)

    def finish(
        self,
        call: Call[T],
        *,
        on_progress: ReportProgress,
        on_output: OnOutput,
        memory: MemoryWatch,
        deadline: float | None = None,
    ) -> T:
        """Return what the method of the call returned. Raises ExportFailure otherwise.

        `deadline`: in `time.monotonic()` seconds; a call that exceeds it is killed.
        """
        worker = self._running
        conversation = Conversation(call.expected, on_progress, on_output)
        if call.out_of_turn:
            self.close()
            raise invalid_answer("an answer that was not asked for", None)
        try:
            in_time = listen(worker, conversation, memory, deadline, stays=True)
        except BaseException:  # a signal: the answer would never be read
            self.close()
            raise
        exit_code = None
        if conversation.answer is None or conversation.invalid:
            if not conversation.invalid:
                worker.process.join(1)
                exit_code = worker.process.exitcode
            self.close()
        server.end_orphans()
        return conversation.result(exit_code, self._memory_before, in_time=in_time)

    def call(
        self,
        method: str,
        arguments: tuple[object, ...],
        expected: type[T],
        *,
        on_progress: ReportProgress,
        on_output: OnOutput,
        memory: MemoryWatch,
        deadline: float | None = None,
    ) -> T:
        """Return what `method(*arguments, report)` returned: `begin` and `finish`."""
        return self.finish(
            self.begin(method, arguments, expected),
            on_progress=on_progress,
            on_output=on_output,
            memory=memory,
            deadline=deadline,
        )

    @property
    def pid(self) -> int | None:
        """Return the process; None when it is closed."""
        return self._worker.process.pid if self._worker else None

    @property
    def _running(self) -> Worker:
        if self._worker is None:
            msg = "the resident is closed"
            raise RuntimeError(msg)
        return self._worker

    def close(self) -> None:
        """End the process and all that it started."""
        self._worker = None
        self._held.close()
