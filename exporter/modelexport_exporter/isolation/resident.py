"""A resident worker: an object in a process of its own, whose methods the supervisor calls.

Later checkpoints reuse its imports, the user's code and a translated graph. A call ends like a
worker's function: with an answer, an ExportFailure, or the death of the process, after which the
resident cannot be called again.
"""

from __future__ import annotations

import contextlib
from contextlib import ExitStack

from modelexport_exporter.core import cgroup
from modelexport_exporter.core.memory import MemoryWatch
from modelexport_exporter.core.types import ReportProgress
from modelexport_exporter.isolation import child
from modelexport_exporter.isolation.death import deadline_exceeded
from modelexport_exporter.isolation.worker import (
    Conversation,
    OnOutput,
    Worker,
    listen,
    start_worker,
    take_answer,
)


class Resident:
    """An object of `module:Class()` in a process of its own. One call at a time."""

    def __init__(self, entry: str) -> None:
        """Start the process."""
        self._held = ExitStack()
        self._worker: Worker | None = self._held.enter_context(start_worker(child.serve, (entry,)))
        self._memory_before = cgroup.read_memory()

    @property
    def alive(self) -> bool:
        """Return whether it can be called."""
        return self._worker is not None and self._worker.process.is_alive()

    def begin(self, method: str, arguments: tuple[object, ...]) -> None:
        """Start a call; `finish` returns its answer."""
        self._memory_before = cgroup.read_memory()
        with contextlib.suppress(OSError):  # it ended: listen() finds out how
            self._running.channel.send((method, arguments))

    def finish(
        self,
        *,
        on_progress: ReportProgress,
        on_output: OnOutput,
        memory: MemoryWatch,
        deadline: float | None = None,
    ) -> object:
        """Return what the method of the call returned. Raises ExportFailure otherwise.

        `deadline`: in `time.monotonic()` seconds; a call that exceeds it is killed.
        """
        worker = self._running
        conversation = Conversation(on_progress, on_output)
        try:
            in_time = listen(worker, conversation, memory, deadline, stays=True)
        except BaseException:  # a signal: the answer would never be read
            self.close()
            raise
        exit_code = None
        if conversation.answer is None:
            worker.process.join(1)
            exit_code = worker.process.exitcode
            self.close()
            if not in_time:
                raise deadline_exceeded(conversation.stage)
        return take_answer(conversation, exit_code, self._memory_before)

    def call(
        self,
        method: str,
        arguments: tuple[object, ...],
        *,
        on_progress: ReportProgress,
        on_output: OnOutput,
        memory: MemoryWatch,
        deadline: float | None = None,
    ) -> object:
        """Return what `method(*arguments, report)` returned: `begin` and `finish`."""
        self.begin(method, arguments)
        return self.finish(
            on_progress=on_progress, on_output=on_output, memory=memory, deadline=deadline
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
