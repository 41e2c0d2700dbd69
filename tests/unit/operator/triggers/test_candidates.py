"""Which completions wait to be processed."""

from __future__ import annotations

from typing import Any

import pytest

from modelexport_api.trigger import ModelExportTriggerStatus
from modelexport_operator.triggers import ledger
from modelexport_operator.triggers.candidates import Candidate, candidate, is_wanted
from modelexport_operator.triggers.completion import find_completion
from unit.operator.triggers.trainings import SUCCEEDED, dated_job, training, trigger

FRESH = ModelExportTriggerStatus()
BODY = training("Job", SUCCEEDED["Job"], managedFields=[{"manager": "x"}])


def found(body: dict[str, Any] = BODY, status: ModelExportTriggerStatus = FRESH) -> Candidate:
    waiting = candidate(trigger(), status, body)
    assert waiting is not None
    return waiting


def test_a_candidate_contains_its_object() -> None:
    body = found().body
    assert "managedFields" not in body["metadata"]
    assert body["status"] == BODY["status"]
    success = find_completion(trigger().spec.source, BODY)
    assert success is not None
    assert found().entry == ledger.entry("uid-of-train-42", success)


@pytest.mark.parametrize(
    ("completed", "policy", "waits"),
    [
        ("2026-05-01T11:29:59Z", "NewOnly", False),
        ("2026-05-01T11:30:00Z", "NewOnly", True),
        ("2026-05-01T11:30:01Z", "NewOnly", True),
        ("2026-05-01T11:29:59Z", "All", True),
    ],
    ids=["before the trigger", "in its second", "after it", "before it, with All"],
)
def test_start_policy(completed: str, policy: str, waits: bool) -> None:
    waiting = candidate(trigger(startPolicy=policy), FRESH, dated_job(completed))
    assert (waiting is not None) is waits


def test_processed_and_unsuccessful_objects_are_not_candidates() -> None:
    done = ledger.add_entries(FRESH, [found().entry])
    assert candidate(trigger(), done, BODY) is None
    assert candidate(trigger(), FRESH, training("Job", {})) is None


@pytest.mark.parametrize(
    ("spec", "wanted"),
    [
        ({}, True),
        ({"source": {"kind": "Job"}}, True),
        ({"source": {"kind": "Job", "selector": {"matchLabels": {"app": "other"}}}}, False),
        ({"source": {"kind": "RayJob"}}, False),
        ({"startPolicy": "All"}, True),
    ],
    ids=["as it was", "all", "other labels", "another kind", "another policy"],
)
def test_a_changed_trigger_keeps_candidates_that_it_still_selects(
    spec: dict[str, Any], wanted: bool
) -> None:
    assert is_wanted(trigger(**spec), FRESH, found()) is wanted


def test_a_recorded_completion_is_no_longer_wanted() -> None:
    assert not is_wanted(trigger(), ledger.add_entries(FRESH, [found().entry]), found())


def test_an_object_whose_time_changes_is_one_candidate() -> None:
    first, second = (found(dated_job(f"2026-05-01T12:00:0{n}Z")) for n in (0, 5))
    assert first.entry != second.entry
    assert first.key == second.key
