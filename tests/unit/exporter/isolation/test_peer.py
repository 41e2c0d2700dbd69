"""Calls between judge and reference: what arrives has the stated type, or is no answer."""

from __future__ import annotations

import json
import math
import pickle
import struct
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from modelexport_api.reasons import Reason
from modelexport_api.status import Stage
from modelexport_exporter.core.carried import Carried
from modelexport_exporter.core.errors import NotDeterministic
from modelexport_exporter.isolation import peer
from modelexport_exporter.isolation.messages import InvalidMessageError
from modelexport_exporter.isolation.peer import Answerer, Asker, Handler, PeerEndedError

Arrays = dict[str, Carried]


@dataclass(frozen=True)
class Row:
    """A value with an array inside."""

    name: str
    numbers: Carried


@contextmanager
def answering(
    methods: dict[str, tuple[Callable[..., object], Any]],
    clock: Callable[[], float] = time.process_time,
) -> Iterator[Asker]:
    ours, theirs = Pipe()
    answerer = Answerer(theirs)
    answerer.clock = clock
    thread = threading.Thread(target=answerer.serve, args=(methods,), daemon=True)
    thread.start()
    asker = Asker(ours)
    yield asker
    asker.end()
    thread.join(10)
    assert not thread.is_alive()


@pytest.mark.parametrize(
    "array",
    [
        np.arange(6, dtype=np.int64).reshape(2, 3),
        np.zeros((0, 3), np.float16),
        np.array(math.nan),
        np.array([True, False]),
        np.ones((2, 2), ml_dtypes.bfloat16),
        np.arange(12, dtype=np.float32).reshape(3, 4).T,
        np.ones(3, np.complex64),
    ],
    ids=lambda array: f"{array.dtype}{list(array.shape)}",
)
def test_arrays_arrive_as_they_are(array: Any) -> None:  # noqa: ANN401
    with answering({"echo": (lambda given: {"x": given, "y": array}, Arrays)}) as asker:
        found = asker.ask("echo", (array,), Arrays)
    for name in ("x", "y"):
        assert found[name].dtype == array.dtype
        assert found[name].shape == array.shape
        np.testing.assert_array_equal(found[name].astype(complex), array.astype(complex))


def test_values_have_their_types() -> None:
    row = Row("a", np.arange(3))
    with answering({"rows": (lambda: (row, row), tuple[Row, ...])}) as asker:
        found = asker.ask("rows", (), tuple[Row, ...])
    assert [own.name for own in found] == ["a", "a"]
    assert all(np.array_equal(own.numbers, np.arange(3)) for own in found)
    assert asker.peak > 0


def test_a_failure_is_raised_as_it_was() -> None:
    def fail() -> None:
        raise NotDeterministic(Reason.VERIFICATION_FAILED, "twice", "once", stage=Stage.VERIFY)

    with answering({"fail": (fail, type(None)), "go": (lambda: 3, int)}) as asker:
        with pytest.raises(NotDeterministic, match="twice"):
            asker.ask("fail", (), type(None))
        assert asker.ask("go", (), int) == 3


def test_the_reference_calls_back() -> None:
    ours, theirs = Pipe()
    answerer = Answerer(theirs)

    def work(count: int) -> int:
        doubled = [answerer.call_back("double", {"x": np.array(n)}, Arrays) for n in range(count)]
        return sum(doubled)

    thread = threading.Thread(target=answerer.serve, args=({"work": (work, int)},), daemon=True)
    thread.start()
    asker = Asker(ours)
    handlers = {"double": Handler(lambda arrays: 2 * int(arrays["x"]), Arrays)}
    assert asker.ask("work", (4,), int, handlers) == 12
    with pytest.raises(InvalidMessageError, match="a call of 'double'"):
        asker.ask("work", (4,), int)


def test_what_is_called_back_may_ask_in_turn() -> None:
    ours, theirs = Pipe()
    answerer = Answerer(theirs)
    calls: list[str] = []

    def seek() -> int:
        return sum(answerer.call_back("compare", n, int) for n in range(3))

    def run(number: int) -> int:
        calls.append(f"run {number}")
        return 10 * number

    methods: Any = {"seek": (seek, int), "run": (run, int)}
    thread = threading.Thread(target=answerer.serve, args=(methods,), daemon=True)
    thread.start()
    asker = Asker(ours)
    compare = Handler(lambda number: asker.ask("run", (number,), int), int)
    assert asker.ask("seek", (), int, {"compare": compare}) == 30
    assert calls == ["run 0", "run 1", "run 2"]
    asker.end()
    thread.join(10)
    assert not thread.is_alive()


def test_an_error_of_a_method_ends_the_conversation() -> None:
    ours, theirs = Pipe()

    def serve() -> None:
        with theirs, pytest.raises(ZeroDivisionError):
            Answerer(theirs).serve({"divide": (lambda: 1 / 0, float)})

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    with pytest.raises(PeerEndedError):
        Asker(ours).ask("divide", (), float)


def head(**changes: object) -> dict[str, object]:
    return {"kind": "result", "value": {}, "arrays": [], "busy": 1.0, "peak": 1, **changes}


def message(content: object, data: bytes = b"") -> bytes:
    document = content if isinstance(content, bytes) else json.dumps(content).encode()
    return struct.pack("<Q", len(document)) + document + data


class Printing:
    def __reduce__(self) -> tuple[object, ...]:
        return (print, ("executed",))


HOSTILE = {
    "a pickle": message(pickle.dumps(Printing())),
    "no JSON": message(b"\x80\x04."),
    "a gigabyte": struct.pack("<Q", 1 << 30),
    "another kind": message(head(kind="verdict")),
    "another field": message(head(verdict="Verified")),
    "a million values": message(b"[" + b"0," * 1_100_000 + b"0]"),
    "another type": message(head(value=3)),
    "an array that is none": message(head(value={"x": 0})),
    "a place below zero": message(head(value={"x": -1}, arrays=[["int8", [1]]]), b"1"),
    "a true place": message(head(value={"x": True}, arrays=[["int8", [1]], ["int8", [1]]]), b"12"),
    "objects": message(head(value={"x": 0}, arrays=[["object", [1]]]), bytes(8)),
    "a negative size": message(head(value={"x": 0}, arrays=[["int8", [-1]]])),
    "more than there is": message(head(value={"x": 0}, arrays=[["float64", [1 << 50]]])),
    "as much by two": message(head(value={"x": 0}, arrays=[["int8", [1 << 45]]] * 2)),
    "empty, and too large": message(head(value={"x": 0}, arrays=[["int8", [0, 1 << 62, 1 << 62]]])),
    "empty, and beyond int64": message(head(value={"x": 0}, arrays=[["int8", [0, 1 << 80]]])),
    "sizes too long to write": message(head(value={"x": 0}, arrays=[["int8", [10**4000] * 3]])),
    "booleans that are neither": message(
        head(value={"x": 0}, arrays=[["bool", [3]]]), b"\x00\x01\x02"
    ),
    "a memory of less than nothing": message(head(peak=-1)),
    "a memory of any size": message(head(peak=1 << 80)),
    "a clock that runs back": message(head(busy=-1.0)),
    "65 dims": message(head(value={"x": 0}, arrays=[["int8", [1] * 65]]), b"1"),
    "an endless clock": message(head(busy=math.inf)),
    "the word of the supervisor": message(
        head(
            kind="failure",
            value={
                "of": "ExportFailure",
                "reason": Reason.RETRIES_EXHAUSTED.value,
                "message": "",
                "hint": "",
                "stage": None,
                "ops": [],
                "sources": [],
                "pitfalls": [],
            },
        )
    ),
    "a failure that is none": message(head(kind="failure", value={"reason": "Verified"})),
    "a call": message(head(kind="call", name="__class__")),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_what_is_no_answer_is_refused(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    ours, theirs = Pipe()
    _write(theirs, HOSTILE[name])
    with pytest.raises(InvalidMessageError):
        Asker(ours).ask("draw", (), Arrays)
    assert "executed" not in capsys.readouterr().out


@pytest.mark.parametrize("cut", [0, 3, 8, 20])
def test_an_answer_that_is_cut_off_is_the_end(cut: int) -> None:
    ours, theirs = Pipe()
    with theirs:
        whole = message(head(value={"x": 0}, arrays=[["int8", [100]]]), bytes(100))
        peer._write(theirs.fileno(), whole[:cut] if cut else whole[:-1])
    with pytest.raises(PeerEndedError):
        Asker(ours).ask("draw", (), Arrays)


def _write(connection: Connection, data: bytes) -> None:
    """Write in a thread: a long message waits to be read."""

    def write() -> None:
        with suppress(PeerEndedError):
            peer._write(connection.fileno(), data)

    threading.Thread(target=write, daemon=True).start()


@pytest.mark.parametrize("claimed", [[1e9, 2e9], [0.0, 1e300]])
def test_a_process_is_not_busier_than_the_time_that_has_passed(claimed: list[float]) -> None:
    begun, times = time.monotonic(), iter(claimed)
    with answering({"name": (lambda: "x", str)}, lambda: next(times)) as asker:
        for _ in claimed:
            asker.ask("name", (), str)
        assert 0 <= asker.busy <= time.monotonic() - begun
