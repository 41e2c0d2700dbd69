from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from modelexport_api.status import Progress, Stage
from modelexport_exporter.core.log import Level
from modelexport_exporter.core.memory import MemoryWatch
from modelexport_exporter.core.progress import (
    SHARES,
    AbandonedError,
    ByteCounter,
    ProgressReporter,
    overall_percent,
)


class Lines:
    def __init__(self) -> None:
        self.reported: list[Progress] = []

    def log(self, level: Level, message: str, **fields: Any) -> None:  # noqa: ANN401
        raise AssertionError(level, message, fields)

    def progress(self, progress: Progress, **_fields: Any) -> None:  # noqa: ANN401
        self.reported.append(progress)


class Clock:
    now = 100.0

    def __call__(self) -> float:
        return self.now


def test_the_shares_cover_every_stage_and_add_up() -> None:
    assert list(SHARES) == list(Stage)
    assert sum(SHARES.values()) == 100


@pytest.mark.parametrize(
    ("stage", "fraction", "percent"),
    [(Stage.FETCH, 0, 0), (Stage.FETCH, 0.5, 10), (Stage.VERIFY, 0, 70), (Stage.PUBLISH, 1, 100)],
)
def test_overall_percent(stage: Stage, fraction: float, percent: int) -> None:
    assert overall_percent(stage, fraction) == percent


def test_progress_is_throttled_but_a_new_stage_is_reported_at_once() -> None:
    lines, clock = Lines(), Clock()
    report = ProgressReporter(lines, MemoryWatch(), clock)
    report(Stage.FETCH, 0.1, "a")
    report(Stage.FETCH, 0.2, "b")
    report(Stage.LOAD, 0.0, "c")
    clock.now += 1.0
    report(Stage.LOAD, 0.5, "d")
    assert [progress.message for progress in lines.reported] == ["a", "c", "d"]


@given(st.lists(st.tuples(st.sampled_from(list(Stage)), st.floats(-1, 2))))
def test_the_percentage_never_goes_back(steps: list[tuple[Stage, float]]) -> None:
    lines, clock = Lines(), Clock()
    report = ProgressReporter(lines, MemoryWatch(), clock)
    for stage, fraction in steps:
        clock.now += 2
        report(stage, fraction, "x" * 300)
    percents = [progress.percent for progress in lines.reported]
    assert percents == sorted(percents)


def test_an_abandoned_transfer_stops_at_its_next_chunk() -> None:
    reported: list[str] = []
    counter = ByteCounter(
        lambda *progress: reported.append(progress[2]), Stage.FETCH, 4_000_000, "got"
    )
    counter(2_000_000)
    assert reported == ["got 2.0 of 4.0 MB"]
    counter.abandon()
    with pytest.raises(AbandonedError):
        counter(1)
