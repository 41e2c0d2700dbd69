"""The counters in the status."""

from __future__ import annotations

from datetime import UTC, datetime

from modelexport_api.trigger import ModelExportTriggerStatus
from modelexport_operator.triggers.outcome import Outcome, add_outcomes
from unit.operator.triggers.test_ledger import at

NOW = datetime(2026, 5, 2, tzinfo=UTC)
BEFORE = ModelExportTriggerStatus(triggered=3, skipped=1, processed=[at(1)])


def test_outcomes_are_counted_and_recorded() -> None:
    outcomes = [Outcome(at(2), "triggered"), Outcome(at(3), "skipped"), Outcome(at(4), "triggered")]
    found = add_outcomes(BEFORE, outcomes, NOW)
    assert (found.triggered, found.skipped) == (5, 2)
    assert found.processed == [at(1), at(2), at(3), at(4)]
    assert found.last_triggered_time == NOW


def test_recorded_outcomes_are_not_counted_again() -> None:
    once = add_outcomes(BEFORE, [Outcome(at(2), "triggered")], NOW)
    assert add_outcomes(once, [Outcome(at(2), "triggered")], NOW) == once


def test_a_skipped_completion_is_not_counted_as_triggered() -> None:
    assert add_outcomes(BEFORE, [Outcome(at(2), "skipped")], NOW).last_triggered_time is None
