"""Health checks, rate limits and log lines."""

from __future__ import annotations

import json
import logging

import pytest

from modelexport_operator.health import Health, find_problems
from modelexport_operator.limiter import Limiter
from modelexport_operator.logs import JsonFormatter


@pytest.mark.parametrize(
    ("health", "words"),
    [
        (Health(leading=False, since_resync=9_999, oldest_key=0), []),
        (Health(leading=True, since_resync=899, oldest_key=299), []),
        (Health(leading=True, since_resync=901, oldest_key=0), ["resync"]),
        (Health(leading=True, since_resync=901, oldest_key=301), ["resync", "key"]),
    ],
    ids=["not the leader", "healthy", "old resync", "old resync and stuck workers"],
)
def test_find_problems(health: Health, words: list[str]) -> None:
    found = find_problems(health, resync_seconds=300)
    assert len(found) == len(words)
    assert all(word in sentence for word, sentence in zip(words, found, strict=True))


def test_a_burst_passes_and_then_the_rate_is_limited() -> None:
    now = 0.0
    limiter = Limiter(qps=10, burst=3, clock=lambda: now)
    assert [round(limiter.reserve(), 2) for _ in range(5)] == [0, 0, 0, 0.1, 0.2]
    now = 100.0
    assert [round(limiter.reserve(), 2) for _ in range(4)] == [0, 0, 0, 0.1]


def test_a_log_line_is_one_json_object() -> None:
    record = logging.LogRecord("a.b", logging.WARNING, "f", 1, "said %s", ("x\ny",), None)
    record.fields = {"uid": "u"}
    line = JsonFormatter().format(record)
    assert "\n" not in line
    found = json.loads(line)
    assert (found["level"], found["message"], found["uid"]) == ("warning", "said x\ny", "u")
