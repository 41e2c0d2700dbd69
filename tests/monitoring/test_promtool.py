"""The alert rules as Prometheus's own tool reads and evaluates them over simulated hours."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from bed import processes
from bed.fixtures import require
from bed.prometheus import PROMTOOL
from monitoring import shipped

CASES = Path(__file__).parent / "alerts_test.yaml"


@pytest.fixture(scope="module", autouse=True)
def promtool() -> None:
    require("prometheus")


def test_the_rules_are_valid() -> None:
    answer = processes.call([PROMTOOL, "check", "rules", "--lint-fatal", shipped.ALERTS])
    assert f"SUCCESS: {len(shipped.alerts())} rules found" in answer


def test_every_alert_fires_and_is_silent_as_the_cases_expect() -> None:
    assert "SUCCESS" in processes.call([PROMTOOL, "test", "rules", CASES])


def test_every_alert_has_a_case() -> None:
    expected = set(re.findall(r'alertname="(\w+)"}\', value: 1', CASES.read_text()))
    assert {alert["alert"] for alert in shipped.alerts()} == expected
