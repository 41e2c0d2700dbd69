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
    Span,
    overall_percent,
    span_of_attempt,
)
from modelexport_exporter.core.types import StageResult


class Lines:
    def __init__(self) -> None:
        self.reported: list[Progress] = []
        self.results: list[tuple[str, dict[str, Any]]] = []

    def log(self, level: Level, message: str, **fields: Any) -> None:  # noqa: ANN401
        self.results.append((message, fields))

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


@pytest.mark.parametrize(
    ("stage", "fraction", "percent"),
    [
        pytest.param(Stage.LOAD, 0, 40, id="begins where the last one ended"),
        pytest.param(Stage.CONVERT, 0, 57, id="in between"),
        pytest.param(Stage.VERIFY, 1, 90, id="ends before publishing"),
        pytest.param(Stage.FETCH, 0.5, 10, id="no part of an attempt"),
        pytest.param(Stage.PUBLISH, 0.5, 95, id="no part of one, either"),
    ],
)
def test_percent_of_a_later_attempt(stage: Stage, fraction: float, percent: int) -> None:
    assert overall_percent(stage, fraction, Span(40, 90)) == percent


@pytest.mark.parametrize(
    ("reached", "number", "possible", "span"),
    [
        pytest.param(20, 1, 1, Span(20, 90), id="the only one"),
        pytest.param(0, 2, 2, Span(20, 90), id="the last one"),
        pytest.param(60, 2, 5, Span(60, 80), id="leaves a part to others"),
        pytest.param(90, 3, 5, Span(90, 90), id="nothing is left"),
    ],
)
def test_span_of_an_attempt(reached: int, number: int, possible: int, span: Span) -> None:
    assert span_of_attempt(reached, number, possible) == span


def test_the_bar_moves_in_every_attempt_and_ends_full() -> None:
    lines, clock = Lines(), Clock()
    report = ProgressReporter(lines, MemoryWatch(), clock)
    report(Stage.FETCH, 1.0, "fetched")
    for number in range(1, 6):
        name = report.begin_attempt(number, 5, "Trace")
        for stage in (Stage.LOAD, Stage.CONVERT, Stage.VERIFY):
            clock.now += 2
            report(stage, 1.0 if stage is Stage.VERIFY else 0.0, "working")
        moved = [found.percent for found in lines.reported if found.attempt == name]
        assert moved[0] < moved[-1]
        assert name == f"attempt {number} of 5: Trace"
    report(Stage.PUBLISH, 0.0, "uploading")
    report.complete("published")
    assert lines.reported[-1].percent == 100
    assert lines.reported[-1].message == "published"


def test_a_result_is_no_progress_and_is_never_throttled() -> None:
    lines = Lines()
    report = ProgressReporter(lines, MemoryWatch(), Clock())
    report(Stage.LOAD, 0.0, "reading")
    report(Stage.LOAD, 1.0, StageResult("7 parameters", 1.5))
    assert len(lines.reported) == 1
    ((message, fields),) = lines.results
    assert message == "Load: 7 parameters"
    assert fields == {"stage": Stage.LOAD, "result": "7 parameters", "seconds": 1.5}


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
