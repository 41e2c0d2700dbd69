"""What the exporter's own reporter makes of the board, from the first step to the last."""

from __future__ import annotations

import io
import re

import pytest
from rich.console import Console

from modelexport_api.conditions import end_of, stages_of
from modelexport_api.spec import Mode
from modelexport_api.status import Stage
from modelexport_cli.board import Board
from modelexport_cli.log import CommandLog
from modelexport_exporter.core.memory import MemoryWatch
from modelexport_exporter.core.progress import ProgressReporter

GREEN = "\x1b[32m✓\x1b[0m"


class Terminal:
    """A board, and a reporter whose clock stands still: every second report is throttled."""

    def __init__(self, mode: Mode) -> None:
        self.console = Console(
            file=io.StringIO(), width=80, force_terminal=True, color_system="standard"
        )
        self.board = Board(self.console, stages_of(mode), lambda: 0.0)
        self.log = CommandLog(self.console, self.board)
        self.report = ProgressReporter(self.log, MemoryWatch(), lambda: 100.0)

    def lines(self) -> list[str]:
        with self.console.capture() as captured:
            self.console.print(self.board)
        return captured.get().splitlines()


@pytest.mark.parametrize("mode", list(Mode))
def test_a_success_ends_full_and_green(mode: Mode) -> None:
    terminal = Terminal(mode)
    for stage in stages_of(mode):
        terminal.report(stage, 0.0, "beginning")
        terminal.report(stage, 1.0, "ending")
        terminal.report.finish(stage, "found", 1.0)
    terminal.report.complete(end_of(mode).value.lower())
    assert any("100 %" in line for line in terminal.lines())
    terminal.log.complete()
    terminal.report(Stage.VERIFY, 1.0, "a thread that is late")
    terminal.board.end()
    assert [line.startswith(GREEN) for line in terminal.lines()] == [True] * len(stages_of(mode))


def test_attempts_move_the_bar_and_are_named() -> None:
    terminal = Terminal(Mode.EXPORT)
    terminal.report(Stage.FETCH, 0.0, "checking")
    shown = []
    for number, rung in enumerate(("Dynamo", "DynamoStrict", "Trace"), start=1):
        terminal.report.begin_attempt(number, 3, rung)
        for stage in (Stage.LOAD, Stage.CAPTURE, Stage.VERIFY):
            terminal.report(stage, 0.0, "working")
            text = " ".join(terminal.lines())
            assert f"attempt {number} of 3: {rung}" in text
            percent = re.search(r"(\d+) %", re.sub(r"\x1b\[[0-9;]*m", "", text))
            assert percent is not None
            shown.append(int(percent[1]))
    assert shown == sorted(shown)
    assert len(set(shown)) >= 7, "it moves in each"
