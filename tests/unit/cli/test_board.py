"""Which stages are over, run, or are to come; and how much of a worker's output is shown."""

from __future__ import annotations

import pytest

from modelexport_api.status import Progress, Stage
from modelexport_cli.board import SHOWN_LINES, Board, State, WorkerLines

ALL = tuple(Stage)


def after(*steps: tuple[Stage, int, float], stages: tuple[Stage, ...] = ALL) -> Board:
    board = Board(stages)
    for stage, percent, now in steps:
        board = board.moved(Progress(stage=stage, percent=percent, message=f"at {percent}"), now)
    return board


def states(board: Board) -> str:
    letters = {
        State.TO_COME: ".",
        State.RUNNING: ">",
        State.DONE: "v",
        State.SKIPPED: "-",
        State.FAILED: "x",
    }
    return "".join(letters[row.state] for row in board.rows(100.0))


FETCH, LOAD, VERIFY = (Stage.FETCH, 0, 0.0), (Stage.LOAD, 20, 2.0), (Stage.VERIFY, 70, 5.0)


@pytest.mark.parametrize(
    ("board", "shown"),
    [
        pytest.param(after(), ".......", id="nothing yet"),
        pytest.param(after(FETCH, LOAD), "v>.....", id="on the way"),
        pytest.param(after(FETCH, LOAD, VERIFY), "vv---> .".replace(" ", ""), id="skipping"),
        pytest.param(
            after(FETCH, LOAD, VERIFY, (Stage.LOAD, 70, 9.0)), "v>.....", id="another way"
        ),
        pytest.param(after(FETCH, LOAD).ended(3.0), "vx.....", id="failed"),
        pytest.param(
            after(FETCH, (Stage.PUBLISH, 100, 1.0)).ended(2.0), "v-----v", id="up to date"
        ),
        pytest.param(after(LOAD, stages=()), ">", id="stages that nobody announced"),
    ],
)
def test_a_stage_is_judged_by_where_the_run_is(board: Board, shown: str) -> None:
    assert states(board) == shown


def test_the_time_of_a_stage_is_that_of_all_ways() -> None:
    board = after(
        (Stage.LOAD, 20, 1.0),
        (Stage.VERIFY, 70, 3.0),
        (Stage.LOAD, 70, 10.0),
        (Stage.VERIFY, 80, 14.0),
    )
    times = {row.stage: row.seconds for row in board.rows(20.0)}
    assert times[Stage.LOAD] == 2.0 + 4.0
    assert times[Stage.VERIFY] == 7.0 + 6.0
    assert times[Stage.PUBLISH] is None
    ended = {row.stage: row.seconds for row in board.ended(15.0).rows(99.0)}
    assert ended[Stage.VERIFY] == 7.0 + 1.0


def test_a_way_that_begins_again_is_told_from_one_that_goes_on() -> None:
    board = after(FETCH, LOAD, VERIFY)
    assert board.goes_back(Progress(stage=Stage.LOAD, percent=70))
    assert not board.goes_back(Progress(stage=Stage.VERIFY, percent=71))
    assert not Board(ALL).goes_back(Progress(stage=Stage.FETCH, percent=0))


def test_of_a_flood_the_last_lines_are_shown_with_how_many_were_not() -> None:
    lines = WorkerLines()
    for number in range(500):
        lines.hear(f"node {number}")
    assert lines.last == "node 499"
    told = lines.taken()
    assert told[0] == f"… {500 - SHOWN_LINES} lines left out"
    assert told[1:] == [f"node {number}" for number in range(500 - SHOWN_LINES, 500)]
    assert list(lines.taken()) == []


def test_few_lines_are_shown_as_they_are() -> None:
    lines = WorkerLines()
    lines.hear("one")
    lines.hear("two")
    assert list(lines.taken()) == ["one", "two"]
    assert lines.last == ""
