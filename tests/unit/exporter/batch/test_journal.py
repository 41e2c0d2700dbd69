"""What a process that is started again takes up."""

from __future__ import annotations

from pathlib import Path

import pytest

from modelexport_api.spec import Storage
from modelexport_exporter.batch.item_result import ItemResult
from modelexport_exporter.batch.journal import (
    InProgress,
    Journal,
    JournalWriter,
    journal_of,
    read_journal,
    resume_journal,
)
from modelexport_exporter.core.errors import ExportFailure
from modelexport_exporter.core.log import JsonLog
from modelexport_exporter.storage.locate import locate
from modelexport_exporter.storage.store import Location, Role


def result(uri: str, index: int = 0) -> ItemResult:
    return ItemResult(index=index, name=uri, uri=uri, destination="s3://o/", outcome="Succeeded")


@pytest.mark.parametrize(
    ("journal", "begun", "again", "uris", "kills"),
    [
        pytest.param(None, None, False, [], {}, id="nothing was there"),
        pytest.param(Journal(results=[result("a")]), None, False, ["a"], {}, id="restarted"),
        pytest.param(
            Journal(results=[result("a")]),
            InProgress(uri="b"),
            False,
            ["a"],
            {"b": 1},
            id="killed once",
        ),
        pytest.param(Journal(kills={"b": 1}), InProgress(uri="b"), False, [], {"b": 2}, id="twice"),
        pytest.param(
            Journal(results=[result("b")]), InProgress(uri="b"), False, ["b"], {}, id="killed later"
        ),
        pytest.param(Journal(kills={"b": 1}), InProgress(), False, [], {"b": 1}, id="stopped"),
        pytest.param(
            Journal(results=[result("a")], kills={"b": 1}),
            InProgress(uri="b"),
            True,
            [],
            {"b": 2},
            id="a new run tries again, and remembers kills",
        ),
    ],
)
def test_what_is_taken_up(
    journal: Journal | None,
    begun: InProgress | None,
    again: bool,
    uris: list[str],
    kills: dict[str, int],
) -> None:
    found = resume_journal(journal, begun, again=again)
    assert [entry.uri for entry in found.results] == uris
    assert found.kills == kills


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def directory(tmp_path: Path) -> Location:
    return locate(f"file://{tmp_path}/batches/x/", Storage(), Role.DESTINATION)


def keeper(directory: Location, clock: Clock, log: Path) -> JournalWriter:
    made = JournalWriter(directory, 0, JsonLog(log.open("w")), clock)
    made.resume(again=False)
    return made


def stored(directory: Location) -> list[str]:
    journal = read_journal(journal_of(directory, 0))
    return [entry.uri for entry in journal.results] if journal else []


def test_writes_are_two_seconds_apart_and_none_is_lost(directory: Location, tmp_path: Path) -> None:
    clock = Clock()
    kept = keeper(directory, clock, tmp_path / "log")
    clock.now += 2
    kept.record(result("a"))
    kept.record(result("b"))
    assert stored(directory) == ["a"]
    clock.now += 2
    kept.record(result("c"))
    assert stored(directory) == ["a", "b", "c"]
    kept.record(result("d"))
    kept.flush()
    assert stored(directory) == ["a", "b", "c", "d"]


def test_a_begun_checkpoint_is_a_kill_for_the_next_process(
    directory: Location, tmp_path: Path
) -> None:
    for expected in (0, 1, 2):
        kept = keeper(directory, Clock(), tmp_path / "log")
        assert kept.kills("a") == expected
        kept.begin("a")
    kept = keeper(directory, Clock(), tmp_path / "log")
    kept.record(result("a"))
    assert kept.kills("a") == 0, "an answer forgets them, so that a later run may try again"


def test_a_checkpoint_that_was_stopped_is_none(directory: Location, tmp_path: Path) -> None:
    kept = keeper(directory, Clock(), tmp_path / "log")
    kept.begin("a")
    kept.stop()
    assert keeper(directory, Clock(), tmp_path / "log").kills("a") == 0


def test_a_refused_marker_hinders_nobody(directory: Location, tmp_path: Path) -> None:
    kept = keeper(directory, Clock(), tmp_path / "log")
    marker = tmp_path / "batches/x/shares/0.begun"
    marker.unlink(missing_ok=True)
    marker.mkdir()
    kept.begin("a")
    assert "failed to write the journal" in (tmp_path / "log").read_text()


def test_a_journal_that_cannot_be_written_at_the_end_is_reported(
    directory: Location, tmp_path: Path
) -> None:
    kept = keeper(directory, Clock(), tmp_path / "log")
    kept.record(result("a"))
    journal = tmp_path / "batches/x/shares/0.json"
    journal.unlink()
    journal.mkdir()
    with pytest.raises(ExportFailure):
        kept.flush()
