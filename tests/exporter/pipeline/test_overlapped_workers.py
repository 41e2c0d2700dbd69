"""The verifier gets ready while the exporter converts; without it an export ends the same way."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from modelexport_api.reasons import Reason
from modelexport_api.resource import parse
from modelexport_exporter.core.errors import ExportFailure
from modelexport_exporter.core.memory import MemoryWatch
from modelexport_exporter.core.types import ExportTask, Rung
from modelexport_exporter.isolation import server
from modelexport_exporter.pipeline.overlapped_workers import ROOM_BYTES, OverlappedWorkers
from modelexport_exporter.pipeline.verifier import Roles
from models import catalog

CONVERT, ANEW = "small_workers:convert", "small_workers:verify_anew"
PLENTY = 1 << 40
ROLES = Roles("small_workers:SmallJudge", "small_workers:SmallReference")


class Calls:
    """Calls the workers as a run does, and records what they print."""

    def __init__(self, tmp_path: Path, behaviour: str = "", free: int = PLENTY) -> None:
        server.start_server(("small_workers",))
        checkpoint = tmp_path / "checkpoint.pt"
        checkpoint.write_bytes(bytes(1000))
        manifest = catalog.DIGITS.manifest("file:///c.pt", "file:///code/", "file:///o/")
        manifest["spec"]["model"]["kwargs"] = {"behaviour": behaviour}
        self.task = ExportTask(parse(manifest).spec, checkpoint, None, tmp_path)
        self.pool = OverlappedWorkers(CONVERT, ANEW, ROLES, free=lambda: free)
        self.lines: list[str] = []
        self.memory = MemoryWatch()

    def __call__(
        self,
        entry: str,
        *arguments: object,
        seconds: float = 30,
        expected: Any = list[Rung],  # noqa: ANN401
    ) -> Any:  # noqa: ANN401
        return self.pool(
            entry,
            arguments,
            expected if entry == ANEW else object,
            on_progress=lambda *_: None,
            on_output=self.lines.append,
            memory=self.memory,
            deadline=time.monotonic() + seconds,
        )


@pytest.fixture
def calls(tmp_path: Path) -> Iterator[Calls]:
    made = Calls(tmp_path)
    yield made
    made.pool.close()


def test_verifier_was_prepared_while_the_file_was_made(calls: Calls) -> None:
    assert calls(CONVERT, calls.task) == "Dynamo"
    assert calls(ANEW, calls.task, None) == [Rung.DYNAMO, Rung.DYNAMO]
    assert calls.lines == ["prepared"]
    assert calls.memory.peak_bytes > 0


def test_each_verification_has_a_process_of_its_own(calls: Calls) -> None:
    for rung in (Rung.DYNAMO, Rung.TRACE):
        task = replace(calls.task, rung=rung)
        calls(CONVERT, task)
        assert calls(ANEW, task, None) == [rung, rung]
    assert calls(ANEW, calls.task, None) == [Rung.DYNAMO]


def test_a_failed_rung_leaves_the_verifier_to_the_next(calls: Calls) -> None:
    calls(CONVERT, calls.task)
    traced = replace(calls.task, rung=Rung.TRACE)
    calls(CONVERT, traced)
    assert calls(ANEW, traced, None) == [Rung.DYNAMO, Rung.TRACE]


@pytest.mark.parametrize("behaviour", ["typed", "exit", "kill", "bug"])
def test_a_verifier_that_fails_to_get_ready_is_replaced(tmp_path: Path, behaviour: str) -> None:
    calls = Calls(tmp_path, f"standby {behaviour}")
    calls(CONVERT, calls.task)
    assert calls(ANEW, calls.task, None) == [Rung.DYNAMO]
    calls.pool.close()


def test_none_starts_early_where_memory_may_be_short(tmp_path: Path) -> None:
    for free, found in (
        (ROOM_BYTES + 2000, [Rung.DYNAMO]),
        (ROOM_BYTES + 2001, [Rung.DYNAMO, Rung.DYNAMO]),
    ):
        calls = Calls(tmp_path, free=free)
        calls(CONVERT, calls.task)
        assert calls(ANEW, calls.task, None) == found
        calls.pool.close()


def test_the_deadline_of_an_export_holds_while_the_verifier_gets_ready(tmp_path: Path) -> None:
    calls = Calls(tmp_path, "standby hang")
    calls(CONVERT, calls.task)
    with pytest.raises(ExportFailure) as caught:
        calls(ANEW, calls.task, None, seconds=0.5)
    assert caught.value.reason is Reason.DEADLINE_EXCEEDED


def test_unknown_workers_have_no_verifier_that_starts_early(calls: Calls) -> None:
    calls.pool = OverlappedWorkers(CONVERT, ANEW, free=lambda: PLENTY)
    calls(CONVERT, calls.task)
    assert calls(ANEW, calls.task, None, expected=str) == "anew Dynamo"


@pytest.mark.parametrize(
    ("behaviour", "reason"),
    [
        ("typed", Reason.CAPTURE_FAILED),
        ("exit", Reason.CAPTURE_FAILED),
        ("kill", Reason.WORKER_DIED),
        ("bug", Reason.INTERNAL_ERROR),
        ("hang", Reason.DEADLINE_EXCEEDED),
    ],
)
def test_the_end_of_the_reference_is_the_end_of_the_verification(
    tmp_path: Path, behaviour: str, reason: Reason
) -> None:
    calls = Calls(tmp_path, f"answer {behaviour}")
    with pytest.raises(ExportFailure) as caught:
        calls(ANEW, calls.task, None, seconds=5 if behaviour == "hang" else 30)
    assert caught.value.reason is reason
