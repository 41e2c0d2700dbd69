"""A resident worker keeps its state between calls; its failures are typed like any worker's."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest

from modelexport_api.reasons import Reason
from modelexport_api.status import Stage
from modelexport_exporter.core.errors import ExportFailure
from modelexport_exporter.core.memory import MemoryWatch
from modelexport_exporter.isolation import server, worker
from modelexport_exporter.isolation.resident import Resident


class Calls:
    """Calls a resident worker, and records its progress and output."""

    def __init__(self) -> None:
        server.start_server(("small_workers",))
        self.resident = Resident("small_workers:Counter")
        self.lines: list[str] = []
        self.stages: list[Stage] = []

    def __call__(self, method: str, *arguments: object, seconds: float = 30) -> object:
        return self.resident.call(
            method,
            arguments,
            object,
            on_progress=lambda stage, _fraction, _message: self.stages.append(stage),
            on_output=self.lines.append,
            memory=MemoryWatch(),
            deadline=time.monotonic() + seconds,
        )


@pytest.fixture
def ask() -> Iterator[Calls]:
    calls = Calls()
    yield calls
    calls.resident.close()


def test_resident_keeps_its_state_between_calls(ask: Calls) -> None:
    assert [ask("add", 2), ask("add", 3)] == [2, 5]
    assert ask.stages == [Stage.LOAD, Stage.LOAD]


def test_output_arrives_before_the_result(ask: Calls) -> None:
    ask("say", "one")
    assert ask.lines == ["one"]


def test_resident_survives_a_failure(ask: Calls) -> None:
    ask("add", 1)
    with pytest.raises(ExportFailure) as caught:
        ask("fail")
    assert caught.value.reason is Reason.CHECKPOINT_CORRUPT
    assert ask("add", 1) == 2


def test_resident_survives_an_unexpected_error(ask: Calls) -> None:
    with pytest.raises(ExportFailure, match="ZeroDivisionError") as caught:
        ask("crash")
    assert caught.value.reason is Reason.INTERNAL_ERROR
    assert ask("add", 1) == 1


def test_death_of_a_resident_has_a_reason(ask: Calls) -> None:
    with pytest.raises(ExportFailure, match="SIGKILL") as caught:
        ask("die")
    assert caught.value.reason is Reason.WORKER_DIED
    assert not ask.resident.alive


def test_resident_is_killed_at_the_deadline(ask: Calls) -> None:
    ask("add", 1)
    with pytest.raises(ExportFailure) as caught:
        ask("sleep", seconds=0.5)
    assert caught.value.reason is Reason.DEADLINE_EXCEEDED
    assert not ask.resident.alive


def test_calls_return_without_polling_delay(ask: Calls) -> None:
    """A poll's pause in each of thousands of calls would be most of a batch's time."""
    ask("add", 1)
    began = time.monotonic()
    for _ in range(50):
        ask("add", 1)
    assert time.monotonic() - began < 50 * worker._POLL_SECONDS
