"""The processes that verify: the judge, the reference, and where the file needs it the runtime.

Guarantees that the verdict comes from a process that runs no code of the user. The reference and
the runtime run it, and only answer what the judge asks them.
"""

from __future__ import annotations

import multiprocessing
import threading
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from typing import Any, TypeVar

from modelexport_api.reasons import Reason
from modelexport_api.spec import ModelExportSpec, UnsupportedOps
from modelexport_api.status import Stage
from modelexport_exporter.core import entry_points
from modelexport_exporter.core.errors import ExportFailure
from modelexport_exporter.core.memory import MemoryWatch
from modelexport_exporter.core.outcome import Unanswered
from modelexport_exporter.core.types import ConvertedModel, ExportTask
from modelexport_exporter.isolation import worker
from modelexport_exporter.isolation.death import invalid_answer
from modelexport_exporter.isolation.resident import Call, Resident

T = TypeVar("T")
LAST_WORDS_SECONDS = 5.0
"""How long a process that ended the conversation may take to say why, or to end."""
FREE_SECONDS = 30.0
"""How long a process may take to free a checkpoint."""
_ENDS_THE_EXPORT = frozenset({Reason.INTERRUPTED, Reason.DEADLINE_EXCEEDED})


@dataclass(frozen=True)
class Roles:
    """The classes of the processes."""

    judge: str = entry_points.JUDGE
    reference: str = entry_points.REFERENCE
    runtime: str = entry_points.RUNTIME


def roles_of(verify_entry: str) -> Roles | None:
    """Return the processes that verify; None for another entry, which does it in one process."""
    return Roles() if verify_entry == entry_points.VERIFY else None


def needs_runtime(spec: ModelExportSpec) -> bool:
    """Return whether the file may need code of the user in onnxruntime."""
    export = spec.export
    falls_through = export.unsupported_ops is UnsupportedOps.FALL_THROUGH
    return falls_through or bool(export.plugins) or bool(export.runtime_libraries)


@dataclass
class _Answering:
    """A process that answers the judge, and how that ended."""

    thread: threading.Thread
    failure: list[BaseException] = field(default_factory=list)

    def ended(self) -> ExportFailure | None:
        """Wait until it ended; return its failure."""
        self.thread.join(LAST_WORDS_SECONDS)
        found = self.failure[0] if self.failure else None
        if found is not None and not isinstance(found, ExportFailure):
            raise found
        return found


class Verifier:
    """Verifies files of one model, one at a time."""

    def __init__(self, spec: ModelExportSpec, roles: Roles) -> None:
        """Start the processes for a spec."""
        channel = multiprocessing.get_context("forkserver").Pipe
        self._others: dict[str, Resident] = {}
        names = {"reference": roles.reference}
        if needs_runtime(spec):
            names["runtime"] = roles.runtime
        ends = []
        try:
            for name, entry in names.items():
                judges_end, their_end = channel()
                ends.append(judges_end)
                with their_end, _limited(name):
                    self._others[name] = Resident(entry, their_end)
            self._judge = Resident(roles.judge, *ends)
        except BaseException:
            self._close_others()
            raise
        finally:
            for end in ends:
                end.close()
        self._preparing: list[tuple[Resident, Call[None]]] = []
        self._answering: list[_Answering] = []

    def is_usable(self) -> bool:
        """Return whether it can verify, when its processes have freed what the last file took."""
        for other in self._answering:
            other.thread.join(FREE_SECONDS)
        waits = any(other.thread.is_alive() for other in self._answering)
        alive = self._judge.alive and all(other.alive for other in self._others.values())
        return alive and not waits

    def prepare(self, task: ExportTask) -> None:
        """Begin to load the original module and what the judge imports."""
        kind = type(None)
        reference = self._others["reference"]
        self._preparing = [
            (reference, reference.begin("prepare", (task,), kind)),
            (self._judge, self._judge.begin("prepare", (), kind)),
        ]

    def is_ready(self, how: dict[str, Any]) -> bool:
        """Wait until it is prepared; return False if that failed."""
        memory: MemoryWatch = how["memory"]
        for process, _ in self._preparing:
            if process.pid is not None:
                memory.add_private(process.pid)
        preparing, self._preparing = self._preparing, []
        try:
            for process, call in preparing:
                process.finish(call, **how)
        except ExportFailure as failure:
            if failure.reason in _ENDS_THE_EXPORT:
                raise
            return False
        return True

    def verify(
        self,
        arguments: tuple[ExportTask, ConvertedModel],
        expected: type[T],
        how: dict[str, Any],
    ) -> T:
        """Return the outcome. Raises ExportFailure."""
        task, converted = arguments
        memory: MemoryWatch = how["memory"]
        self._answering = [self._answer(other, task, how) for other in self._others.values()]
        pids = {other.pid for other in self._others.values() if other.pid is not None}
        wanted: Any = expected | Unanswered
        try:
            with memory.beside(pids):
                answer = self._judge.call("judge", (task, converted), wanted, **how)
            if isinstance(answer, Unanswered):
                raise _why(answer, [other.ended() for other in self._answering])  # noqa: TRY301
        except BaseException:
            self.close()
            raise
        found: T = answer
        return found

    def _answer(self, other: Resident, task: ExportTask, how: dict[str, Any]) -> _Answering:
        """Let a process answer the judge; a thread receives what it prints."""
        call = other.begin("answer", (task,), type(None))

        def finish() -> None:
            try:
                other.finish(call, **{**how, "on_progress": lambda *_: None})
            except BaseException as error:  # noqa: BLE001 - the thread that waits raises it
                answering.failure.append(error)
                other.close()  # the judge would wait for its answer

        answering = _Answering(threading.Thread(target=finish, daemon=True))
        answering.thread.start()
        return answering

    def close(self) -> None:
        """End the processes."""
        self._judge.close()
        self._close_others()

    def _close_others(self) -> None:
        for other in self._others.values():
            other.close()


def _limited(name: str) -> AbstractContextManager[None]:
    """Return in what a process starts: the reference does not write where the file is."""
    return worker.outputs_read_only() if name == "reference" else nullcontext()


def _why(answer: Unanswered, ends: Sequence[ExportFailure | None]) -> ExportFailure:
    """Return why there is no outcome: how another process ended, or else what it said."""
    said = answer.invalid or "an end of its answers"
    return next(filter(None, ends), invalid_answer(said, Stage.VERIFY))
