"""The columns REASON and MESSAGE, as a table."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Literal

import pytest

from modelexport_api.status import Condition
from modelexport_api.summary import LENGTH, summarize

NOW = datetime(2026, 5, 1, tzinfo=UTC)
Status = Literal["True", "False", "Unknown"]


def condition(kind: str, status: Status, reason: str, message: str = "") -> Condition:
    return Condition(
        type=kind, status=status, reason=reason, message=message, last_transition_time=NOW
    )


SCHEDULED = condition("Scheduled", "True", "Scheduled")
WAITS = condition("Scheduled", "False", "Unschedulable", "0/3 nodes are available")
RETRIES = condition("Exported", "Unknown", "Retrying", "attempt 2 of 4")
NEXT = condition("Verified", "Unknown", "Waiting")
NOT_REQUESTED = condition("Exported", "False", "NotRequested", "mode Verify")


@pytest.mark.parametrize(
    ("conditions", "wanted"),
    [
        ([condition("Scheduled", "Unknown", "Pending"), NEXT], {}),
        ([SCHEDULED, condition("Exported", "Unknown", "Running"), NEXT], {}),
        ([SCHEDULED, NOT_REQUESTED, NEXT], {}),
        ([WAITS, NEXT], {"reason": "Unschedulable", "message": "0/3 nodes are available"}),
        ([WAITS, RETRIES], {"reason": "Unschedulable", "message": "0/3 nodes are available"}),
        ([SCHEDULED, RETRIES], {"reason": "Retrying", "message": "attempt 2 of 4"}),
        (
            [SCHEDULED, condition("Failed", "True", "OutOfMemory", "the kernel\nkilled it")],
            {"reason": "OutOfMemory", "message": "the kernel killed it"},
        ),
        ([SCHEDULED, condition("Complete", "True", "Published", "s3://…")], {}),
        (
            [SCHEDULED, condition("Complete", "True", "PartiallyPublished", "4 of 5")],
            {"reason": "PartiallyPublished", "message": "4 of 5"},
        ),
    ],
    ids=[
        "a new export",
        "running",
        "a stage that is not requested",
        "waits for a node",
        "what it waits for comes first",
        "is retried",
        "failed, on one line",
        "succeeded",
        "a batch of which a part failed",
    ],
)
def test_the_condition_that_is_not_well(
    conditions: list[Condition], wanted: dict[str, str]
) -> None:
    assert summarize(conditions) == wanted


def test_a_long_message_is_truncated() -> None:
    found = summarize([condition("Failed", "True", "OutOfMemory", "x" * 1000)])
    assert len(found["message"]) == LENGTH
