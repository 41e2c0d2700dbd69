"""What a worker sends to the supervisor: JSON documents, one a line. Pure.

A worker runs user code, which can write anything to its channel; the supervisor holds credentials
and the signing key. So nothing that arrives is executed or chooses a class: the caller states the
type of the answer that it expects, and pydantic builds it, or the export fails.
"""

from __future__ import annotations

import codecs
import functools
import json
from typing import Annotated, Any, Generic, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, FiniteFloat, TypeAdapter, ValidationError

from modelexport_api.reasons import Reason
from modelexport_api.status import Stage, UnsupportedOp
from modelexport_exporter.core.errors import (
    ExportFailure,
    Incurable,
    NotDeterministic,
    RouteFallback,
    VaryingOutputs,
    printable,
)
from modelexport_exporter.core.pitfall import Pitfall
from modelexport_exporter.core.types import FactoryProgress, StageResult

LONGEST_BYTES = 64 << 20
"""Of a message. The largest answer is a mismatch whose repro has 32 MiB, in base64 43."""
MOST_VALUES = 1_000_000
"""In a message: parsed, a wrong one takes up to 1.2 KB of the supervisor's memory. A verification
of 200 samples with 300 outputs has 0.9 million."""
_DETAILED_ERRORS = 20

T = TypeVar("T")

_OF_THE_SUPERVISOR = frozenset(
    {
        Reason.NOTHING_MATCHED,
        Reason.DESTINATIONS_COLLIDE,
        Reason.TOO_MANY_FAILED,
        Reason.DESTINATION_EXISTS,
        Reason.DESTINATION_DENIED,
        Reason.SIGNING_FAILED,
        Reason.INTERRUPTED,
        Reason.POD_KILLED,
        Reason.POD_REJECTED,
        Reason.POD_CANNOT_START,
        Reason.PENDING_DEADLINE_EXCEEDED,
        Reason.RETRIES_EXHAUSTED,
        Reason.JOB_DELETED,
        Reason.RESULT_LOST,
    }
)
"""Reasons for which the supervisor and the operator do more than fail this export."""


class InvalidMessageError(Exception):
    """What arrived is no message of a worker; the text says what is wrong with it."""


class _Message(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class ProgressMessage(_Message):
    """A worker's progress, or what a stage found."""

    kind: Literal["progress"] = "progress"
    stage: Stage
    fraction: FiniteFloat
    text: str
    seconds: FiniteFloat | None = None
    """Of a stage that has succeeded."""
    in_factory: bool = False

    @property
    def message(self) -> str:
        """Return the text as the class that says what it is."""
        text = printable(self.text)
        if self.seconds is not None:
            return StageResult(text, self.seconds)
        return FactoryProgress(text) if self.in_factory else text


class ResultMessage(_Message, Generic[T]):
    """What a function returned."""

    kind: Literal["result"] = "result"
    value: T


_Class = Literal[
    "ExportFailure", "RouteFallback", "Incurable", "NotDeterministic", "VaryingOutputs"
]
_CLASSES: dict[_Class, type[ExportFailure]] = {
    "NotDeterministic": NotDeterministic,
    "VaryingOutputs": VaryingOutputs,
    "Incurable": Incurable,
    "RouteFallback": RouteFallback,
    "ExportFailure": ExportFailure,
}
"""Each before the classes that it is derived from."""


class FailureMessage(_Message):
    """An ExportFailure."""

    kind: Literal["failure"] = "failure"
    of: _Class
    reason: Reason
    message: str
    hint: str
    stage: Stage | None
    ops: tuple[UnsupportedOp, ...]
    sources: tuple[str, ...]
    pitfalls: tuple[Pitfall, ...]

    @property
    def failure(self) -> ExportFailure:
        """Return the failure."""
        made = _CLASSES[self.of](
            self.reason,
            self.message,
            self.hint,
            stage=self.stage,
            ops=self.ops,
            sources=self.sources,
        )
        made.pitfalls = self.pitfalls
        return made


class CrashMessage(_Message):
    """An exception that no stage expected."""

    kind: Literal["crash"] = "crash"
    message: str
    traceback: str


def encode_progress(stage: Stage, fraction: float, message: str) -> bytes:
    """Return a line."""
    seconds = message.seconds if isinstance(message, StageResult) else None
    found = ProgressMessage(
        stage=stage,
        fraction=fraction,
        text=str(message),
        seconds=seconds,
        in_factory=isinstance(message, FactoryProgress),
    )
    return _line(found.model_dump(mode="json"))


def encode_result(value: object, expected: Any) -> bytes:  # noqa: ANN401
    """Return a line; `expected`: the type that the caller stated."""
    content = adapter_of(expected).dump_python(value, mode="json", warnings=False, fallback=number)
    return _line({"kind": "result", "value": content})


def number(value: Any) -> object:  # noqa: ANN401
    """Return the number of NumPy or torch as one of Python."""
    return value.item()


def encode_failure(failure: ExportFailure) -> bytes:
    """Return a line."""
    return _line(content_of(failure))


def content_of(failure: ExportFailure) -> dict[str, Any]:
    """Return what `failure_of` reads."""
    found = FailureMessage.model_construct(
        of=next(name for name, kind in _CLASSES.items() if isinstance(failure, kind)),
        reason=failure.reason,
        message=failure.message,
        hint=failure.hint,
        stage=failure.stage,
        ops=failure.ops,
        sources=failure.sources,
        pitfalls=failure.pitfalls,
    )
    return found.model_dump(mode="json")


def failure_of(content: object) -> ExportFailure:
    """Return the failure that a worker sent. Raises InvalidMessageError."""
    found: FailureMessage = validated(content, FailureMessage)
    _check_claims(found)
    return found.failure


def validated(content: object, expected: Any, context: object = None) -> Any:  # noqa: ANN401
    """Return a part of a document as the type that was expected. Raises InvalidMessageError."""
    try:
        # JSON, because strict classes such as enumerations take their values only from it.
        return adapter_of(expected).validate_json(text_of(content), context=context)
    except ValidationError as error:
        raise InvalidMessageError(first_error(error)) from None


def encode_crash(message: str, traceback: str) -> bytes:
    """Return a line."""
    return _line({"kind": "crash", "message": message, "traceback": traceback})


def decode(
    line: bytes,
    expected: Any,  # noqa: ANN401
) -> ProgressMessage | ResultMessage[Any] | FailureMessage | CrashMessage:
    """Return the message in a line; `expected`: the type of the result.

    Raises InvalidMessageError.
    """
    check_values(line)
    try:
        found = _message_with(expected).validate_json(line)
    except ValidationError as error:
        raise InvalidMessageError(first_error(error)) from None
    if isinstance(found, ProgressMessage | FailureMessage):
        _check_claims(found)
    message: ProgressMessage | ResultMessage[Any] | FailureMessage | CrashMessage = found
    return message


def check_values(document: bytes) -> None:
    """Raise InvalidMessageError for a document of too many values."""
    values = sum(map(document.count, (b",", b"{", b"[")))
    if values > MOST_VALUES:
        raise InvalidMessageError(f"a document of about {values:,} values")


def _check_claims(message: ProgressMessage | FailureMessage) -> None:
    """Raise InvalidMessageError for what only the supervisor may say."""
    if isinstance(message, FailureMessage) and message.reason in _OF_THE_SUPERVISOR:
        raise InvalidMessageError(f"a failure for the reason {message.reason}")
    if message.stage is Stage.PUBLISH:
        raise InvalidMessageError("a message about publishing")


def first_error(error: ValidationError) -> str:
    """Return the first error of a document."""
    if error.error_count() > _DETAILED_ERRORS:
        return f"a document with {error.error_count():,} errors"
    first = error.errors(include_url=False, include_context=False, include_input=False)[0]
    where = ".".join(map(str, first["loc"]))[:200]
    return f"{first['msg'][:200]}{f' ({where})' if where else ''}"


@functools.cache
def adapter_of(expected: Any) -> TypeAdapter[Any]:  # noqa: ANN401
    """Return what reads and writes values of a type."""
    return TypeAdapter(expected)


@functools.cache
def _message_with(expected: Any) -> TypeAdapter[Any]:  # noqa: ANN401
    message: Any = ProgressMessage | ResultMessage[expected] | FailureMessage | CrashMessage
    return TypeAdapter(Annotated[message, Field(discriminator="kind")])


_ESCAPE = "modelexport.json"
"""Names an error handler for what UTF-8 cannot encode: halves of surrogate pairs in file names."""


def _escape(error: UnicodeError) -> tuple[str, int]:
    assert isinstance(error, UnicodeEncodeError)
    found = error.object[error.start : error.end]
    return "".join(f"\\\\u{ord(character):04x}" for character in found), error.end


codecs.register_error(_ESCAPE, _escape)


def text_of(content: object) -> bytes:
    """Return a JSON document."""
    # The encoder of the standard library writes NaN and infinities, which pydantic's reads.
    text = json.dumps(content, ensure_ascii=False, separators=(",", ":"))
    return text.encode(errors=_ESCAPE)


def _line(content: object) -> bytes:
    return text_of(content) + b"\n"


class Lines:
    """Cuts a stream of bytes into lines of limited length."""

    def __init__(self, longest: int = LONGEST_BYTES) -> None:
        self._longest = longest
        self._parts: list[bytes] = []
        self._size = 0

    @property
    def is_empty(self) -> bool:
        """Return whether no line has begun."""
        return not self._size

    def add(self, data: bytes) -> list[bytes]:
        """Return the lines that end in this data. Raises InvalidMessageError for a longer one."""
        *ended, rest = data.split(b"\n")
        lines = []
        for end in ended:
            self._append(end)
            lines.append(b"".join(self._parts))
            self._parts, self._size = [], 0
        self._append(rest)
        return lines

    def _append(self, part: bytes) -> None:
        self._size += len(part)
        if self._size > self._longest:
            raise InvalidMessageError(f"more than {self._longest >> 20} MiB without an end of line")
        if part:
            self._parts.append(part)
