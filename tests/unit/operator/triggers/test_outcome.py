"""What the status counts."""

from __future__ import annotations

from datetime import UTC, datetime

from modelexport_api.trigger import ModelExportTriggerStatus
from modelexport_operator.triggers.outcome import Outcome, recorded
from unit.operator.triggers.test_ledger import at

NOW = datetime(2026, 5, 2, tzinfo=UTC)
BEFORE = ModelExportTriggerStatus(triggered=3, skipped=1, processed=[at(1)])


def test_outcomes_are_counted_and_remembered() -> None:
    outcomes = [Outcome(at(2), "triggered"), Outcome(at(3), "skipped"), Outcome(at(4), "triggered")]
    found = recorded(BEFORE, outcomes, NOW)
    assert (found.triggered, found.skipped) == (5, 2)
    assert found.processed == [at(1), at(2), at(3), at(4)]
    assert found.last_triggered_time == NOW


def test_what_is_recorded_is_not_counted_again() -> None:
    once = recorded(BEFORE, [Outcome(at(2), "triggered")], NOW)
    assert recorded(once, [Outcome(at(2), "triggered")], NOW) == once


def test_a_skipped_completion_is_no_trigger() -> None:
    assert recorded(BEFORE, [Outcome(at(2), "skipped")], NOW).last_triggered_time is None
