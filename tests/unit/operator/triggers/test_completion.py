"""Success of each kind, as its controller writes it."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from modelexport_api.trigger import TriggerSource
from modelexport_operator.triggers.completion import EPOCH, Completion, find_completion
from unit.operator.triggers.trainings import (
    ENDED,
    HARD_WON,
    SUCCEEDED,
    UNFINISHED,
    condition,
    training,
)

WHEN = datetime(2026, 5, 1, 12, tzinfo=UTC)


@pytest.mark.parametrize("kind", SUCCEEDED)
def test_success_and_its_time(kind: str) -> None:
    body = training(kind, SUCCEEDED[kind])
    assert find_completion(TriggerSource(kind=kind), body) == Completion(WHEN)


@pytest.mark.parametrize(
    ("kind", "status"),
    [(r[0], r[2]) for r in UNFINISHED],
    ids=[f"{r[0]} {r[1]}" for r in UNFINISHED],
)
def test_no_success(kind: str, status: dict[str, Any]) -> None:
    assert find_completion(TriggerSource(kind=kind), training(kind, status)) is None


@pytest.mark.parametrize(
    ("kind", "status"), [(r[0], r[2]) for r in HARD_WON], ids=[f"{r[0]} {r[1]}" for r in HARD_WON]
)
def test_success_after_retries(kind: str, status: dict[str, Any]) -> None:
    found = find_completion(TriggerSource(kind=kind), training(kind, status))
    assert found is not None
    assert found.when == WHEN


def test_runs_of_a_scheduled_ray_job_are_different_completions() -> None:
    body = training("RayJob", SUCCEEDED["RayJob"])
    body["spec"]["schedule"] = "0 * * * *"
    found = find_completion(TriggerSource(kind="RayJob"), body)
    assert found == Completion(WHEN, run="train-42-x7c2f")


def own(**success: object) -> TriggerSource:
    values = {"kind": "Training", "apiVersion": "example.com/v1", "success": success}
    return TriggerSource.model_validate(values)


@pytest.mark.parametrize(
    ("success", "status", "ended"),
    [
        ({"condition": {"type": "Done"}}, {"conditions": [condition("Done")]}, True),
        ({"condition": {"type": "Done"}}, {"conditions": [condition("Done", "False")]}, False),
        ({"condition": {"type": "Done"}}, {"conditions": [condition("Other")]}, False),
        ({"condition": {"type": "Done"}}, {"conditions": None}, False),
        (
            {"condition": {"type": "Active", "status": "False"}},
            {"conditions": [condition("Active", "False")]},
            True,
        ),
        ({"field": {"path": ".status.phase", "value": "Ok"}}, {"phase": "Ok"}, True),
        ({"field": {"path": "{.status.phase}", "value": "Ok"}}, {"phase": "Bad"}, False),
        ({"field": {"path": ".status.phase", "value": "Ok"}}, {}, False),
        ({"field": {"path": ".status.done", "value": "true"}}, {"done": True}, True),
        ({"field": {"path": ".status.epochs", "value": "3"}}, {"epochs": 3}, True),
    ],
)
def test_another_kind(success: dict[str, object], status: dict[str, Any], ended: bool) -> None:
    assert (find_completion(own(**success), training("Training", status)) is not None) is ended


PHASE = own(field={"path": ".status.phase", "value": "Ok"})


def test_a_kind_without_completion_time_uses_the_last_status_write() -> None:
    entries = [
        {"manager": "kubectl", "time": "2026-05-01T13:00:00Z", "fieldsV1": {"f:metadata": {}}},
        {"manager": "trainer", "time": ENDED, "fieldsV1": {"f:status": {}}},
    ]
    body = training("Training", {"phase": "Ok"}, managedFields=entries)
    assert find_completion(PHASE, body) == Completion(WHEN)


@pytest.mark.parametrize(
    ("created", "when"),
    [("2026-05-01T14:00:00+02:00", WHEN), ("soon", EPOCH), (None, EPOCH)],
    ids=["another time zone", "no time", "nothing"],
)
def test_without_other_times_the_creation_time_is_used(created: str | None, when: datetime) -> None:
    body = training("Training", {"phase": "Ok"}, creationTimestamp=created)
    assert find_completion(PHASE, body) == Completion(when)
