"""The times of stages are those that the log is told."""

from __future__ import annotations

import io

import pytest

from modelexport_api.status import Progress, Stage
from modelexport_exporter.core import stage_times
from modelexport_exporter.core.log import JsonLog
from modelexport_exporter.core.memory import MemoryWatch
from modelexport_exporter.core.progress import ProgressReporter
from modelexport_exporter.core.stage_times import StageTime, TimedLog


def test_ends_of_stages_and_attempts_are_kept_and_everything_is_passed_on() -> None:
    stream = io.StringIO()
    log = TimedLog(JsonLog(stream), lambda: 100.0)
    report = ProgressReporter(log, MemoryWatch())
    report(Stage.FETCH, 0.5, "half")
    report.finish(Stage.FETCH, "2 kB", 2.5)
    log.log("warning", "Dynamo: …", failed="ConversionFailed", stage=Stage.CONVERT, seconds=4.0)
    log.log("info", "a message without a time")
    log.progress(Progress(stage=Stage.LOAD, percent=30, message="loading"))
    assert log.times == (
        StageTime("Fetch", 97.5, 100.0),
        StageTime("Convert", 96.0, 100.0, "ConversionFailed"),
    )
    assert len(stream.getvalue().splitlines()) == 5


def test_a_large_batch_keeps_the_first_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stage_times, "MOST", 3)
    log = TimedLog(JsonLog(io.StringIO()))
    for number in range(5):
        log.log("info", "done", stage=Stage.FETCH, seconds=float(number))
    assert len(log.times) == 3
