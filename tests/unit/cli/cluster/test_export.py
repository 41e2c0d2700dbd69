from __future__ import annotations

from typing import Any

import pytest

from modelexport_api.conditions import stages_of
from modelexport_api.reasons import EXIT_CODES, Reason
from modelexport_api.spec import Mode
from modelexport_cli.cluster.export import OPERATOR_EXIT_CODES, read_status
from unit.cli.cluster.objects import BATCH, complete, condition, export, failed


def test_every_reason_has_an_exit_code() -> None:
    assert {*EXIT_CODES, *OPERATOR_EXIT_CODES} == set(Reason)


@pytest.mark.parametrize(
    ("reason", "code"),
    [
        ("VerificationFailed", 15),
        ("UnsupportedOperator", 13),
        ("RetriesExhausted", 75),
        ("PendingDeadlineExceeded", 18),
        ("PodCannotStart", 10),
    ],
)
def test_the_exit_code_is_that_of_run(reason: str, code: int) -> None:
    assert failed(reason=reason).exit_code == code


def test_a_success_and_a_run_in_progress_have_no_failure() -> None:
    assert complete().exit_code == 0
    assert complete().failure is None
    assert export({"phase": "Running"}).end is None


def test_a_failed_condition_alone_is_a_failure() -> None:
    ended = condition("Failed", reason="OutOfMemory", message="m")
    found = export({"conditions": [ended]})
    assert found.failure is not None
    assert (found.failure.reason, found.failure.message) == (Reason.OUT_OF_MEMORY, "m")


@pytest.mark.parametrize(
    ("spec", "stages"),
    [
        ({}, stages_of(Mode.EXPORT)),
        ({"mode": "Verify"}, stages_of(Mode.VERIFY)),
        ({"mode": "Newer"}, stages_of(Mode.EXPORT)),
        ({"source": BATCH}, ()),
        ({"source": {"uris": ["s3://a/b"]}}, ()),
    ],
)
def test_the_stages_are_those_of_the_mode_and_none_for_a_batch(
    spec: dict[str, Any], stages: tuple[object, ...]
) -> None:
    assert export(**spec).stages == stages


@pytest.mark.parametrize(
    ("status", "expected"),
    [
        ({}, "not started"),
        ({"phase": "Running"}, "Running"),
        ({"phase": "Succeeded", "conditions": [condition("Complete")]}, "Complete"),
        ({"conditions": [condition("Failed", reason="DiskFull")]}, "Failed (DiskFull)"),
    ],
)
def test_the_state_in_words(status: dict[str, Any], expected: str) -> None:
    assert export(status).state == expected


def test_suspended_is_what_the_spec_says_not_a_late_status() -> None:
    assert export({"phase": "Running"}, suspend=True).state == "suspended"
    assert export({"phase": "Suspended"}).suspended is False


@pytest.mark.parametrize(
    ("stored", "kept"),
    [
        ({"phase": "Running", "new": 1}, {"phase": "Running"}),
        ({"phase": "Frozen", "attempts": 2}, {"attempts": 2}),
        (
            {"progress": {"stage": "Load", "percent": 5, "message": "m", "new": {"a": 1}}},
            {"progress": {"stage": "Load", "percent": 5, "message": "m"}},
        ),
        ({"progress": {"stage": "Polish", "percent": 5}, "attempts": 2}, {"attempts": 2}),
        (
            {"conditions": [{**condition("Complete"), "new": 1}]},
            {"conditions": [condition("Complete")]},
        ),
        (
            {"failure": {"reason": "Newer", "message": "m", "new": 1}},
            {"failure": {"reason": "InternalError", "message": "Newer: m"}},
        ),
        ({"failure": "text"}, {}),
    ],
)
def test_a_status_of_another_version_is_read_without_what_is_unknown(
    stored: dict[str, Any], kept: dict[str, Any]
) -> None:
    assert read_status(stored) == read_status(kept)
    assert read_status(kept).model_dump(exclude_defaults=True) or not kept


def test_a_batch_is_partial_if_it_succeeded_although_checkpoints_failed() -> None:
    items = {"total": 3, "succeeded": 2, "failed": 1}
    assert complete({"items": items}, source=BATCH).is_partial
    assert not complete({"items": {**items, "failed": 0}}, source=BATCH).is_partial
    assert not export({"items": items}, source=BATCH).is_partial
