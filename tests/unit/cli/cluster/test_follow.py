from __future__ import annotations

import io
from typing import Any

import pytest
from rich.console import Console

from modelexport_cli.cluster.errors import ClusterError
from modelexport_cli.cluster.export import Export
from modelexport_cli.cluster.follow import Follower
from modelexport_cli.cluster.narration import Line
from modelexport_cli.cluster.request import Access, unreachable
from modelexport_cli.log import CommandLog
from unit.cli.cluster.objects import complete, export, failed, progress

LOST = unreachable(Access("dev", "team"), "refused")


def follower() -> tuple[Follower, io.StringIO]:
    text = io.StringIO()
    log = CommandLog(Console(file=text, width=200))
    return Follower(export(), log, on_board=False), text


def read(found: Export, kind: str = "MODIFIED", uid: str = "u1") -> dict[str, Any]:
    raw = {**found.raw, "metadata": {**found.raw["metadata"], "uid": uid}}
    return {"type": kind, "object": raw}


def event(name: str, reason: str) -> dict[str, Any]:
    found = {"kind": "Event", "metadata": {"name": name}, "reason": reason, "message": "m"}
    return {"type": "ADDED", "object": found}


def test_progress_and_events_are_shown_once() -> None:
    found, text = follower()
    running = export({"phase": "Running", "progress": progress("Load", 22, "reading")})
    for entry in (event("e1", "JobDeleted"), event("e1", "JobDeleted"), read(running)):
        found.take(entry)
    found.take(read(running))
    assert text.getvalue().splitlines() == ["JobDeleted: m", " 22 %  Load     reading"]


def test_an_outage_is_shown_once_until_the_server_answers_again() -> None:
    found, text = follower()
    for entry in (LOST, LOST, read(export()), LOST):
        found.take(entry)
    assert text.getvalue().count("trying again") == 2


def test_events_that_may_not_be_read_do_not_end_it() -> None:
    found, text = follower()
    found.take(Line("warning", "Events are not shown: forbidden"))
    found.take(read(complete()))
    assert found.export.end is not None
    assert "warning: Events are not shown" in text.getvalue()


@pytest.mark.parametrize(
    ("entry", "words"),
    [
        ({}, "was deleted before it had ended"),
        (read(export({"phase": "Running"}), "DELETED"), "was deleted before"),
        (read(export(), "ADDED", "u2"), "deleted and created again before"),
    ],
)
def test_a_deleted_export_ends_it(entry: dict[str, Any], words: str) -> None:
    found, _ = follower()
    with pytest.raises(ClusterError) as caught:
        found.take(entry)
    assert words in caught.value.message
    assert caught.value.exit_code == 75


def test_the_last_state_of_a_deleted_export_may_be_its_end() -> None:
    found, _ = follower()
    found.take(read(failed(), "DELETED"))
    assert found.export.failure is not None


def test_a_lasting_refusal_ends_it() -> None:
    found, _ = follower()
    with pytest.raises(ClusterError, match="forbidden"):
        found.take(ClusterError("forbidden"))
