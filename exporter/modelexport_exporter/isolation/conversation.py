"""What a worker said so far: its progress, its answer, and the lines that it printed.

Everything here comes from a process that runs user code: its amount is limited, and what is not a
message of a worker ends the conversation.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from modelexport_api.status import Stage
from modelexport_exporter.core import cgroup
from modelexport_exporter.core.errors import ExportFailure
from modelexport_exporter.core.types import ReportProgress
from modelexport_exporter.isolation.death import (
    Death,
    deadline_exceeded,
    explain,
    internal_error,
    invalid_answer,
)
from modelexport_exporter.isolation.messages import (
    CrashMessage,
    FailureMessage,
    InvalidMessageError,
    Lines,
    ProgressMessage,
    ResultMessage,
    decode,
)
from modelexport_exporter.isolation.output_lines import OnOutput, OutputLines

_TAIL_LINES = 20
_SECOND = "more than one answer"
T = TypeVar("T")


@dataclass
class Conversation(Generic[T]):
    """The messages of a worker during one call."""

    expected: type[T]
    """The type of the answer."""
    on_progress: ReportProgress
    on_output: OnOutput
    stage: Stage | None = None
    in_factory: bool = False
    answer: ResultMessage[T] | FailureMessage | CrashMessage | None = None
    invalid: str = ""
    """What arrived that is no message of a worker."""
    tail: deque[str] = field(default_factory=lambda: deque(maxlen=_TAIL_LINES))
    _printed: OutputLines = field(default_factory=OutputLines)
    _lines: Lines = field(default_factory=Lines)

    @property
    def is_over(self) -> bool:
        """Return whether nothing more is expected."""
        return self.answer is not None or bool(self.invalid)

    def receive(self, data: bytes) -> None:
        """Handle bytes of the channel."""
        try:
            for line in self._lines.add(data):
                self._handle(line)
            self._refuse_more()
        except InvalidMessageError as error:
            self.invalid = str(error)

    def receive_output(self, data: bytes) -> None:
        """Handle printed data; empty data ends the output."""
        for line in self._printed.feed(data) if data else self._printed.end():
            self.tail.append(line)
            self.on_output(line)

    def _handle(self, line: bytes) -> None:
        if self.answer is not None:
            raise InvalidMessageError(_SECOND)
        message = decode(line, self.expected)
        if not isinstance(message, ProgressMessage):
            self.answer = message
            return
        self.stage, self.in_factory = message.stage, message.in_factory
        self.on_progress(message.stage, message.fraction, message.message)

    def _refuse_more(self) -> None:
        if self.answer is not None and not self._lines.is_empty:
            raise InvalidMessageError(_SECOND)

    def result(self, exit_code: int | None, before: cgroup.Memory, *, in_time: bool = True) -> T:
        """Return the worker's result. Raises the ExportFailure for any other end.

        `exit_code`: of a process that ended without an answer. `before`: memory before the call.
        """
        answer = self.answer
        if self.invalid:
            raise invalid_answer(self.invalid, self.stage)
        if answer is None:
            raise self._death(exit_code, before) if in_time else deadline_exceeded(self.stage)
        if isinstance(answer, ResultMessage):
            return answer.value
        if isinstance(answer, FailureMessage):
            failure = answer.failure
            failure.stage = failure.stage or self.stage
            raise failure
        self.receive_output(answer.traceback.encode(errors="replace"))
        self.receive_output(b"")
        raise internal_error(answer.message, self.stage)

    def _death(self, exit_code: int | None, before: cgroup.Memory) -> ExportFailure:
        return explain(
            Death(
                exit_code=exit_code,
                stage=self.stage,
                in_factory=self.in_factory,
                before=before,
                after=cgroup.read_memory(),
                output=tuple(self.tail),
            )
        )
