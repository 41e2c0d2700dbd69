"""Which stages the board shows as completed, running, failed or to come, and how long each took."""

from __future__ import annotations

import io
import re

import pytest
from rich.console import Console

from modelexport_api.items import ShareCounts
from modelexport_api.status import Progress, Stage
from modelexport_cli.board import Board

STAGES = tuple(Stage)
FETCH, LOAD, VERIFY = (Stage.FETCH, 0, 0.0), (Stage.LOAD, 20, 2.0), (Stage.VERIFY, 70, 5.0)
PUBLISH = (Stage.PUBLISH, 90, 6.0)
LOAD_AGAIN = (Stage.LOAD, 70, 9.0)


class Screen:
    """A board on a console of a width, with a clock that the test sets."""

    def __init__(self, stages: tuple[Stage, ...] = STAGES, width: int = 100) -> None:
        self.now = 0.0
        self.console = Console(file=io.StringIO(), width=width, force_terminal=True, no_color=True)
        self.board = Board(self.console, stages, lambda: self.now)

    def show(self, *steps: tuple[Stage, int, float]) -> None:
        for stage, percent, self.now in steps:
            self.board.show(Progress(stage=stage, percent=percent, message=f"at {percent}"))

    def lines(self) -> list[str]:
        with self.console.capture() as captured:
            self.console.print(self.board)
        return [re.sub(r"\x1b\[[0-9;]*m", "", line) for line in captured.get().splitlines()]

    def marks(self) -> str:
        return "".join(line[0] for line in self.lines() if line[2:10].strip() in STAGES)

    def row(self, stage: Stage) -> str:
        return next(line for line in self.lines() if line[2:].startswith(stage))


@pytest.mark.parametrize(
    ("steps", "marks"),
    [
        pytest.param((), "·······", id="not started"),
        pytest.param((FETCH, LOAD), "✓•·····", id="running"),
        pytest.param((FETCH, LOAD, VERIFY), "✓✓···•·", id="skipped stages"),
        pytest.param((FETCH, LOAD, VERIFY, LOAD_AGAIN), "✓•·····", id="second attempt"),
    ],
)
def test_marks_follow_the_current_stage(steps: tuple[tuple[Stage, int, float]], marks: str) -> None:
    screen = Screen()
    screen.show(*steps)
    assert screen.marks() == marks


@pytest.mark.parametrize(
    ("succeeded", "marks"),
    [
        pytest.param(False, "✓·····✗", id="failed"),
        pytest.param(True, "✓·····✓", id="succeeded"),
    ],
)
def test_the_last_stage_is_completed_only_if_the_run_succeeded(
    succeeded: bool,
    marks: str,
) -> None:
    screen = Screen()
    screen.show(FETCH, PUBLISH)
    if succeeded:
        screen.board.complete()
    screen.board.end()
    assert screen.marks() == marks
    assert len(screen.lines()) == len(STAGES), "the bar is removed"


def test_a_run_that_goes_on_elsewhere_has_no_failed_stage() -> None:
    screen = Screen()
    screen.show(FETCH, LOAD)
    screen.now = 5.0
    screen.board.leave()
    screen.board.end()
    screen.now = 60.0
    assert screen.marks() == "✓•·····"
    assert screen.row(Stage.LOAD).endswith("3.0 s")


def test_a_stage_that_was_not_announced_gets_a_row() -> None:
    screen = Screen(stages=())
    screen.show(LOAD)
    assert screen.marks() == "•"


def test_a_row_that_is_over_shows_what_was_found_and_the_seconds_of_the_report() -> None:
    screen = Screen()
    screen.show(FETCH, LOAD)
    screen.board.finish(Stage.FETCH, "0.6 MB", 1.7)
    assert screen.row(Stage.FETCH).split() == ["✓", "Fetch", "0.6", "MB", "1.7", "s"]
    screen.now = 3.0
    assert screen.row(Stage.LOAD).split() == ["•", "Load", "at", "20", "1.0", "s"]
    screen.show((Stage.CAPTURE, 25, 6.0))
    assert screen.row(Stage.LOAD).split() == ["✓", "Load", "4.0", "s"], "not what it was doing"


def test_another_attempt_begins_its_rows_anew() -> None:
    screen = Screen()
    screen.show((Stage.LOAD, 20, 1.0))
    screen.board.finish(Stage.LOAD, "7 parameters", 2.0)
    screen.show((Stage.VERIFY, 70, 3.0), (Stage.LOAD, 70, 10.0))
    screen.now = 11.0
    assert screen.row(Stage.LOAD).split() == ["•", "Load", "at", "70", "1.0", "s"]
    assert screen.row(Stage.VERIFY).strip() == "· Verify"
    screen.show((Stage.VERIFY, 80, 14.0))
    screen.now = 15.0
    screen.board.end()
    screen.now = 99.0
    assert screen.row(Stage.VERIFY).split() == ["✗", "Verify", "1.0", "s"]
    assert screen.row(Stage.PUBLISH).strip() == "· Publish"


def test_the_attempt_and_what_follows_a_result_stand_below_the_bar() -> None:
    screen = Screen(width=40)
    step = Progress(
        stage=Stage.VERIFY, percent=70, message="comparing", attempt="attempt 2 of 5: DynamoStrict"
    )
    screen.board.show(step)
    screen.board.finish(Stage.VERIFY, "24 samples agree", 1.0)
    screen.board.show(step.model_copy(update={"message": "measuring latency"}))
    assert screen.row(Stage.VERIFY).startswith("✓ Verify   24 samples agree")
    assert [line.rstrip() for line in screen.lines()[-2:]] == [
        "  attempt 2 of 5: DynamoStrict",
        "  measuring latency",
    ]


@pytest.mark.parametrize("late", [FETCH, PUBLISH])
def test_what_is_reported_after_the_end_changes_nothing(late: tuple[Stage, int, float]) -> None:
    screen = Screen()
    screen.show(FETCH, PUBLISH)
    screen.board.complete()
    screen.show(late)
    screen.board.finish(Stage.LOAD, "late", 1.0)
    screen.board.end()
    assert screen.marks() == "✓·····✓"


def test_the_bar_shows_percent_and_seconds() -> None:
    screen = Screen()
    screen.show(FETCH, LOAD, VERIFY)
    screen.now = 7.0
    bar = screen.lines()[-1]
    assert " 70 % ━━" in bar
    assert bar.rstrip().endswith(" 7.0 s")


@pytest.mark.parametrize("width", [50, 100])
def test_a_batch_shows_its_counts_and_its_step_without_stages(width: int) -> None:
    screen = Screen((), width)
    step = Progress(stage=Stage.VERIFY, percent=100, message="fold-2.pt (2 of 4): comparing")
    counts = ShareCounts(share=0, batch_total=4, share_total=4, succeeded=3, failed=1)
    screen.board.show(step, counts)
    bar, message = screen.lines()
    assert re.search(r"100 % ━{4,32} 3 verified, 1 failed of 4 0\.0 s", bar)
    assert message.strip() == "fold-2.pt (2 of 4): comparing"
    screen.board.end()
    assert screen.lines() == []


def test_a_long_message_does_not_wrap() -> None:
    screen = Screen(width=60)
    screen.board.show(Progress(stage=Stage.FETCH, percent=0, message="word " * 40))
    screen.board.note = "line " * 40
    assert len(screen.lines()) == len(STAGES) + 2
    assert all(len(line.rstrip()) <= 60 for line in screen.lines())
