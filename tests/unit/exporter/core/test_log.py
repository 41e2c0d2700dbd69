"""The least level of a pod's log. Progress is written at every level: the operator reads it."""

from __future__ import annotations

import io
import json

import pytest

from modelexport_api.pod import LOG_LEVEL_ENV
from modelexport_api.status import Progress, Stage
from modelexport_exporter.core.log import LEVELS, JsonLog, Level
from modelexport_exporter.pod import least_level


@pytest.mark.parametrize(
    ("least", "written"),
    [
        ("debug", ["debug", "info", "warning", "error"]),
        ("warning", ["warning", "error"]),
        ("error", ["error"]),
    ],
)
def test_messages_below_the_level_are_not_written(least: Level, written: list[Level]) -> None:
    stream = io.StringIO()
    log = JsonLog(stream, least)
    for level in LEVELS:
        log.log(level, "message")
    log.progress(Progress(stage=Stage.FETCH, message="half", percent=50))
    lines = [json.loads(line) for line in stream.getvalue().splitlines()]
    assert [line["level"] for line in lines[:-1]] == written
    assert lines[-1]["progress"]["stage"] == "Fetch"


@pytest.mark.parametrize(
    ("environment", "level"),
    [({}, "debug"), ({LOG_LEVEL_ENV: "warning"}, "warning"), ({LOG_LEVEL_ENV: "loud"}, "debug")],
)
def test_the_level_of_the_environment(environment: dict[str, str], level: Level) -> None:
    assert least_level(environment) == level
