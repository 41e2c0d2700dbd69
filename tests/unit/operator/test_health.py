"""Health checks, rate limits and log lines."""

from __future__ import annotations

import json
import logging

import pytest

from modelexport_operator.health import Health, find_problems
from modelexport_operator.limiter import Limiter, asked_pause
from modelexport_operator.logs import JsonFormatter, TextFormatter, about
from unit.operator.objects import UID
from unit.operator.objects import resource as export_resource


@pytest.mark.parametrize(
    ("health", "words"),
    [
        (Health(leading=False, stalled=9_999, silent=9_999), []),
        (Health(leading=True, stalled=299, silent=539), []),
        (Health(leading=True, stalled=301, silent=0), ["nothing has finished for 301 s"]),
        (Health(leading=True, stalled=301, silent=541), ["finished", "watch"]),
    ],
    ids=["not the leader", "healthy", "workers hang", "workers and a watch hang"],
)
def test_find_problems(health: Health, words: list[str]) -> None:
    found = find_problems(health, stalled_seconds=300)
    assert len(found) == len(words)
    assert all(word in sentence for word, sentence in zip(words, found, strict=True))


def test_a_burst_passes_and_then_the_rate_is_limited() -> None:
    now = 0.0
    limiter = Limiter(qps=10, burst=3, clock=lambda: now)
    assert [round(limiter.reserve(), 2) for _ in range(5)] == [0, 0, 0, 0.1, 0.2]
    now = 100.0
    assert [round(limiter.reserve(), 2) for _ in range(4)] == [0, 0, 0, 0.1]


@pytest.mark.parametrize(
    ("status", "headers", "seconds"),
    [
        (429, {"Retry-After": "2"}, 2),
        (503, {"Retry-After": "7"}, 7),
        (429, {"Retry-After": "86400"}, 30),
        (429, {"Retry-After": "Sat, 28 Nov 2026 10:00:00 GMT"}, 0),
        (429, {}, 0),
        (200, {"Retry-After": "2"}, 0),
    ],
)
def test_requests_pause_when_the_api_server_asks_for_it(
    status: int, headers: dict[str, str], seconds: float
) -> None:
    limiter = Limiter(qps=10, burst=3, clock=lambda: 100.0)
    limiter.hold(asked_pause(status, headers))
    waits = [round(limiter.reserve(), 2) for _ in range(3)]
    assert waits == ([0, 0, 0] if seconds == 0 else [seconds + n / 10 for n in (1, 2, 3)])


def test_a_log_line_is_one_json_object() -> None:
    record = logging.LogRecord("a.b", logging.WARNING, "f", 1, "said %s", ("x\ny",), None)
    record.fields = {"uid": "u"}
    line = JsonFormatter().format(record)
    assert "\n" not in line
    found = json.loads(line)
    assert (found["level"], found["message"], found["uid"]) == ("warning", "said x\ny", "u")


def test_lines_have_the_identity_of_their_object() -> None:
    record = logging.LogRecord("a", logging.INFO, "f", 1, "created Job %s", ("j",), None)
    record.fields = about(export_resource(), job="j", reason=None)["fields"]
    identity = {"namespace": "ml", "name": "digits", "uid": UID, "generation": 1, "job": "j"}
    assert json.loads(JsonFormatter().format(record)).items() >= identity.items()
    text = TextFormatter("%(levelname)s: %(message)s").format(record)
    assert text == f"INFO: created Job j namespace=ml name=digits uid={UID} generation=1 job=j"
