"""A worker that stays: an object in a process of its own whose methods are called from here.

What one checkpoint's work leaves behind (imports, the user's code, a translated graph) serves the
next one. A method ends as a worker's function does: in its answer, an ExportFailure, or the death
of the process, after which the resident is gone for good.
"""

from __future__ import annotations

import contextlib
from contextlib import ExitStack

from modelexport_exporter.core import cgroup
from modelexport_exporter.core.memory import MemoryWatch
from modelexport_exporter.core.types import ReportProgress
from modelexport_exporter.isolation import child
from modelexport_exporter.isolation.death import too_late
from modelexport_exporter.isolation.worker import (
    Conversation,
    OnOutput,
    Worker,
    answer_of,
    listen,
    started,
)


class Resident:
    """An object of `module:Class()` in a process of its own. One call at a time."""

    def __init__(self, entry: str) -> None:
        """Start the process."""
        self._held = ExitStack()
        self._worker: Worker | None = self._held.enter_context(started(child.serve, (entry,)))

    @property
    def alive(self) -> bool:
        """Tell whether it can be called."""
        return self._worker is not None and self._worker.process.is_alive()

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
        """Return what `method(*arguments, report)` returned. Raises ExportFailure otherwise.

        `deadline` is in `time.monotonic()` seconds; who exceeds it is ended.
        """
        worker = self._worker
        if worker is None:
            msg = "the resident is closed"
            raise RuntimeError(msg)
        before = cgroup.read_memory()
        conversation = Conversation(on_progress, on_output)
        try:
            with contextlib.suppress(OSError):  # it is dead: listening will tell how it ended
                worker.channel.send((method, arguments))
            in_time = listen(worker, conversation, memory, deadline, stays=True)
        except BaseException:  # a signal: nobody will take the answer that it is about to give
            self.close()
            raise
        exit_code = None
        if conversation.answer is None:
            worker.process.join(1)
            exit_code = worker.process.exitcode
            self.close()
            if not in_time:
                raise too_late(conversation.stage)
        return answer_of(conversation, exit_code, before)

    def close(self) -> None:
        """End the process and whatever it started."""
        self._worker = None
        self._held.close()
