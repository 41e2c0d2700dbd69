"""Calls between two workers, of which one runs user code.

The *judge* asks, the *reference* answers; while it works on an answer it may call back. From the
judge goes what the reference may believe (pickle, with its arrays). From the reference comes one
JSON document a message, whose type the judge states, and raw arrays: nothing that arrives chooses a
class or runs. Both have one thread and take turns, so that neither waits for the other to read.
"""

from __future__ import annotations

import contextlib
import math
import os
import pickle
import struct
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from multiprocessing.connection import Connection
from typing import Annotated, Any, Literal, TypeVar

import ml_dtypes
import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field, FiniteFloat, ValidationError

from modelexport_exporter.core.errors import ExportFailure
from modelexport_exporter.core.machine import busy_seconds, free_memory, peak_memory
from modelexport_exporter.isolation import messages
from modelexport_exporter.isolation.claimed_time import ClaimedTime

T = TypeVar("T")
Array = NDArray[Any]

_SIZE = struct.Struct("<Q")
_DTYPES = {
    str(np.dtype(own)): np.dtype(own)
    for own in (
        *("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
        *("float16", "float32", "float64", "complex64", "complex128", ml_dtypes.bfloat16),
        *(ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e4m3fnuz),
        *(ml_dtypes.float8_e5m2, ml_dtypes.float8_e5m2fnuz),
    )
}
_MOST_DIMS = 64
_MOST = 2**63 - 1
"""Of a size or a number of bytes: larger ones are not even written out in a message."""
Count = Annotated[int, Field(ge=0, le=_MOST)]
_END = ""
"""In place of a method: nothing more is asked."""


class PeerEndedError(Exception):
    """The other process closed the channel, or ended."""


class _Head(BaseModel):
    """What precedes a value."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    kind: Literal["result", "failure", "call"]
    name: str = ""
    """Of the function that is called back."""
    value: Any = None
    arrays: list[tuple[str, list[Count]]] = []
    """dtype and shape of each array that follows."""
    busy: Annotated[FiniteFloat, Field(ge=0)]
    """CPU seconds of its process, for each CPU that it may use."""
    peak: Count
    """The largest resident size of its process, in bytes."""


@dataclass(frozen=True)
class _Question:
    """What the judge asks."""

    method: str
    arguments: tuple[Any, ...]
    busy: float
    """The seconds in which the judge was busy."""


@dataclass(frozen=True)
class _Reply:
    """What a function of the judge returned that was called back."""

    value: Any
    busy: float


Methods = Mapping[str, tuple[Callable[..., object], Any]]
"""Functions by name, each with the type of its result."""


@dataclass(frozen=True)
class Handler:
    """What the reference may call in the judge."""

    function: Callable[[Any], object]
    argument: Any
    """The type of its argument."""


class Asker:
    """The judge's end."""

    def __init__(self, connection: Connection) -> None:
        self._fd = connection.fileno()
        self._connection = connection  # closes the descriptor when it is freed
        self._time = ClaimedTime(time.monotonic())
        self.peak = 0
        """Its largest resident size, in bytes."""

    @property
    def busy(self) -> float:
        """The seconds in which the other process was busy, from its first message to its last."""
        return self._time.seconds

    def ask(
        self,
        method: str,
        arguments: tuple[object, ...],
        expected: Any,  # noqa: ANN401
        handlers: Mapping[str, Handler] | None = None,
    ) -> Any:  # noqa: ANN401
        """Return what the method returned, of the type `expected`.

        `handlers`: what it may call back meanwhile. Raises the ExportFailure that it raised,
        PeerEndedError, and InvalidMessageError for what is no answer.
        """
        _send_trusted(self._fd, _Question(method, arguments, busy_seconds()))
        while True:
            head, arrays = self._receive()
            if head.kind == "result":
                return messages.validated(head.value, expected, arrays)
            if head.kind == "failure":
                raise messages.failure_of(head.value)
            handler = (handlers or {}).get(head.name)
            if handler is None:
                raise messages.InvalidMessageError(f"a call of {head.name[:80]!r}")
            found = handler.function(messages.validated(head.value, handler.argument, arrays))
            _send_trusted(self._fd, _Reply(found, busy_seconds()))

    def forget(self, method: str, arguments: tuple[object, ...], expected: Any) -> None:  # noqa: ANN401
        """Ask what needs no answer, if the other end is still there. Never raises."""
        with contextlib.suppress(PeerEndedError, messages.InvalidMessageError, ExportFailure):
            self.ask(method, arguments, expected)

    def end(self) -> None:
        """Ask nothing more, until the other end serves again."""
        with contextlib.suppress(PeerEndedError):
            _send_trusted(self._fd, _Question(_END, (), busy_seconds()))

    def _receive(self) -> tuple[_Head, list[Array]]:
        (size,) = _SIZE.unpack(_read(self._fd, _SIZE.size))
        if size > messages.LONGEST_BYTES:
            raise messages.InvalidMessageError(f"a message of {size:,} bytes")
        document = bytes(_read(self._fd, size))
        messages.check_values(document)
        try:
            head = _Head.model_validate_json(document)
        except ValidationError as error:
            raise messages.InvalidMessageError(messages.first_error(error)) from None
        self._time.note(head.busy, time.monotonic())
        self.peak = max(self.peak, head.peak)
        return head, self._receive_arrays(head)

    def _receive_arrays(self, head: _Head) -> list[Array]:
        room = free_memory()
        arrays: list[Array] = []
        for name, shape in head.arrays:
            dtype = _DTYPES.get(name)
            if dtype is None or len(shape) > _MOST_DIMS:
                raise messages.InvalidMessageError(f"an array {name[:40]!r} {shape[:8]}")
            size = math.prod(shape) * dtype.itemsize
            room -= size
            if room < 0:
                raise messages.InvalidMessageError(f"an array of {size:,} bytes: no memory is left")
            arrays.append(_shaped(_read(self._fd, size), dtype, shape))
        return arrays


class Answerer:
    """The end of the process that runs user code."""

    def __init__(self, connection: Connection) -> None:
        self._fd = connection.fileno()
        self._connection = connection
        self.busy = 0.0
        """The seconds in which the judge was busy, until its last message."""
        self.clock: Callable[[], float] = busy_seconds
        """Of this process, in seconds."""
        self._methods: Methods = {}

    def serve(self, methods: Methods) -> None:
        """Answer until the judge has done. `methods`: each with the type of its result.

        What a method raises but an ExportFailure ends the conversation.
        """
        self._methods = methods
        with contextlib.suppress(PeerEndedError):
            while (question := self._receive()).method != _END:
                self._answer(question)

    def _answer(self, question: _Question) -> None:
        function, returned = self._methods[question.method]
        try:
            found = function(*question.arguments)
        except ExportFailure as failure:
            self._send("failure", messages.content_of(failure))
        else:
            self._send("result", found, returned)

    def _receive(self) -> Any:  # noqa: ANN401
        message: _Question | _Reply = _receive_trusted(self._fd)
        self.busy = message.busy
        return message

    def call_back(self, name: str, argument: object, kind: Any) -> Any:  # noqa: ANN401
        """Return what the judge's function returns; `kind`: the type of the argument.

        The function may ask in turn, before it returns.
        """
        self._send("call", argument, kind, name)
        while isinstance(message := self._receive(), _Question):
            if message.method == _END:
                raise PeerEndedError
            self._answer(message)
        return message.value

    def _send(self, kind: str, value: object, of: Any = None, name: str = "") -> None:  # noqa: ANN401
        arrays: list[Array] = []
        if of is not None:
            value = messages.adapter_of(of).dump_python(
                value, mode="json", context=arrays, warnings=False, fallback=messages.number
            )
        head = {
            "kind": kind,
            "name": name,
            "value": value,
            "arrays": [(str(array.dtype), array.shape) for array in arrays],
            "busy": self.clock(),
            "peak": peak_memory(),
        }
        document = messages.text_of(head)
        parts = [_SIZE.pack(len(document)) + document]
        parts.extend(np.ascontiguousarray(array).reshape(-1).view(np.uint8) for array in arrays)  # type: ignore[misc]
        for part in parts:
            _write(self._fd, part)


def _shaped(data: bytearray, dtype: np.dtype[Any], shape: list[int]) -> Array:
    """Return the array; an empty one may state sizes that NumPy refuses."""
    if dtype.kind == "b" and data.translate(None, b"\0\1"):
        # NumPy and a runtime take such a byte for true, and differ in whether it equals true.
        raise messages.InvalidMessageError("booleans that are neither 0 nor 1")
    try:
        return np.frombuffer(data, dtype).reshape(shape)
    except ValueError as error:
        raise messages.InvalidMessageError(f"an array {shape[:8]}: {error}"[:200]) from None


def _send_trusted(fd: int, value: object) -> None:
    document = pickle.dumps(value, protocol=pickle.HIGHEST_PROTOCOL)
    _write(fd, _SIZE.pack(len(document)))
    _write(fd, document)


def _receive_trusted(fd: int) -> Any:  # noqa: ANN401
    (size,) = _SIZE.unpack(_read(fd, _SIZE.size))
    return pickle.loads(_read(fd, size))  # noqa: S301 - from the judge, which runs no user code


def _read(fd: int, size: int) -> bytearray:
    """Return so many bytes. Raises PeerEndedError at the end of the channel."""
    data = bytearray(size)
    rest = memoryview(data)
    while rest:
        try:
            count = os.readv(fd, [rest])
        except OSError:
            count = 0
        if not count:
            raise PeerEndedError
        rest = rest[count:]
    return data


def _write(fd: int, data: Any) -> None:  # noqa: ANN401
    rest = memoryview(data).cast("B")
    while rest:
        try:
            rest = rest[os.write(fd, rest) :]
        except OSError as error:
            raise PeerEndedError from error
