from __future__ import annotations

from typing import Any

import pytest

from modelexport_cli.cluster.export import Export
from modelexport_cli.cluster.narration import Line, narrate, narrate_event
from unit.cli.cluster.objects import BATCH, condition, export, failed, progress

PENDING = {"phase": "Pending", "conditions": [condition("Scheduled", "Unknown", "Pending")]}
UNSCHEDULABLE = {
    "phase": "Pending",
    "conditions": [condition("Scheduled", "False", "Unschedulable", "0/1 nodes")],
}
QUEUED = {
    "phase": "Queued",
    "conditions": [condition("Scheduled", "False", "Queued", "in queue gpu")],
}
RETRYING = {
    "phase": "Pending",
    "conditions": [
        condition("Scheduled", "Unknown", "Pending"),
        condition("Exported", "Unknown", "Retrying", "attempt 2 of 4: PodKilled"),
    ],
}


def running(stage: str, percent: int, message: str = "m") -> Export:
    return export({"phase": "Running", "progress": progress(stage, percent, message)})


def shown(before: Export | None, now: Export, *, on_board: bool = False) -> list[str]:
    return [
        f"{entry.level}: {entry.text}"
        if isinstance(entry, Line)
        else f"{entry.progress.percent} {entry.progress.stage} {entry.progress.message}".strip()
        for entry in narrate(before, now, on_board=on_board)
    ]


@pytest.mark.parametrize(
    ("before", "now", "expected"),
    [
        (None, export(), []),
        (None, export(PENDING), ["info: Pending: waiting for a pod"]),
        (export(PENDING), export(PENDING), []),
        (export(PENDING), export(UNSCHEDULABLE), ["info: Pending: 0/1 nodes"]),
        (None, export(QUEUED), ["info: Queued: in queue gpu"]),
        (export(PENDING), export(RETRYING), ["warning: attempt 2 of 4: PodKilled"]),
        (
            running("Load", 22),
            export({**UNSCHEDULABLE, "phase": "Running", "progress": progress("Load", 22, "m")}),
            ["info: Running: 0/1 nodes"],
        ),
        (running("Load", 22), export({**PENDING, "progress": progress("Load", 22, "m")}), []),
        (None, running("Load", 22), ["22 Load m"]),
        (running("Load", 22), running("Load", 22), []),
        (running("Load", 22), running("Load", 24, "n"), ["24 Load n"]),
    ],
)
def test_only_what_is_new_is_shown(before: Export | None, now: Export, expected: list[str]) -> None:
    assert shown(before, now) == expected


def test_on_a_board_no_stage_is_left_out() -> None:
    assert shown(running("Load", 22), running("Contract", 67), on_board=True) == [
        "67 Capture",
        "67 Convert",
        "67 Contract m",
    ]
    assert shown(running("Verify", 80), running("Fetch", 80), on_board=True) == ["80 Fetch m"]


def test_a_failure_is_shown_in_its_stage_although_its_progress_was_not_seen() -> None:
    late = failed(stage="Verify").raw["status"] | {"progress": progress("Capture", 30, "m")}
    assert shown(running("Capture", 30), export(late)) == ["30 Verify"]
    assert shown(running("Capture", 30), export(late), on_board=True) == [
        "30 Convert",
        "30 Contract",
        "30 Verify",
    ]


def test_a_retry_that_ended_is_not_shown_with_the_end() -> None:
    status = failed().raw["status"]
    exported = condition("Exported", "False", "OutOfMemory", "m")
    ended = export({**status, "conditions": [exported, *status["conditions"]]})
    assert shown(None, ended) == []


def test_a_batch_shows_its_counts() -> None:
    status: dict[str, Any] = {"phase": "Running", "progress": progress("Verify", 50, "fold-3")}
    before = export({**status, "items": {"total": 4}}, source=BATCH)
    now = export({**status, "items": {"total": 4, "succeeded": 1}}, source=BATCH)
    (step,) = narrate(before, now, on_board=True)
    assert not isinstance(step, Line)
    assert step.share is not None
    assert (step.share.succeeded, step.share.share_total) == (1, 4)


@pytest.mark.parametrize(
    ("before", "now", "expected"),
    [
        ((0, 0), (1, 0), []),
        ((1, 0), (1, 1), ["info: 1 verified, 1 failed of 20"]),
        ((1, 1), (2, 1), []),
        ((1, 1), (19, 1), ["info: 19 verified, 1 failed of 20"]),
    ],
)
def test_a_log_gets_a_line_for_each_tenth_of_a_batch(
    before: tuple[int, int], now: tuple[int, int], expected: list[str]
) -> None:
    first, second = (
        export(
            {"phase": "Running", "items": {"total": 20, "succeeded": ok, "failed": bad}},
            source=BATCH,
        )
        for ok, bad in (before, now)
    )
    assert shown(first, second) == expected
    assert shown(first, second, on_board=True) == []


@pytest.mark.parametrize(
    ("event", "expected"),
    [
        ({"reason": "Resumed", "message": "m", "type": "Normal"}, Line("info", "Resumed: m")),
        ({"reason": "JobDeleted", "type": "Warning"}, Line("warning", "JobDeleted")),
        ({"reason": "Retrying", "message": "m", "type": "Warning"}, None),
        ({"reason": "Complete", "message": "m", "type": "Normal"}, None),
    ],
)
def test_events_that_the_status_repeats_are_left_out(
    event: dict[str, str], expected: Line | None
) -> None:
    assert narrate_event(event) == expected
