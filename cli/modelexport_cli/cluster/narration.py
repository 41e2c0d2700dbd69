"""What is shown of an export that is followed: lines and steps of its progress. Pure.

Nothing is said twice: what the conditions say is not repeated from Events.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from modelexport_api.conditions import NOT_REQUESTED
from modelexport_api.items import Items, ShareCounts
from modelexport_api.status import ConditionType, ModelExportStatus, Phase, Progress, Stage
from modelexport_api.waits import Wait
from modelexport_cli.cluster.export import Export

_SAID_BY_STATUS = {"Complete", *Wait}
_WAITING = {Phase.PENDING, Phase.QUEUED}


@dataclass(frozen=True)
class Line:
    """A line of the log."""

    level: Literal["info", "warning"]
    text: str


@dataclass(frozen=True)
class Step:
    """A step of the progress, of one checkpoint or of a batch."""

    progress: Progress
    share: ShareCounts | None = None


def narrate(before: Export | None, now: Export, *, on_board: bool) -> Iterator[Line | Step]:
    """Yield what is new.

    `on_board`: a step also for each stage that began and ended unseen, and no line for the counts
    of a batch, which the board shows.
    """
    earlier = before.status if before else ModelExportStatus()
    waiting = _waiting(now.status)
    if waiting and waiting != _waiting(earlier):
        yield Line("info", waiting)
    trouble = _trouble(now.status)
    if trouble and trouble != _trouble(earlier) and now.end is None:
        yield Line("warning", trouble)
    tenths = _tenths(now)
    if tenths > (_tenths(before) if before else 0) and not on_board:
        yield Line("info", _counts(now))
    last = earlier.progress
    for step in _steps(before, now):
        if on_board:
            yield from _unseen(last, step.progress, now.stages)
        yield step
        last = step.progress


def narrate_event(event: Mapping[str, Any]) -> Line | None:
    """Return the line for an Event about the export; None if the status says the same."""
    reason, message = event.get("reason", ""), event.get("message") or ""
    if reason in _SAID_BY_STATUS:
        return None
    level: Literal["info", "warning"] = "warning" if event.get("type") == "Warning" else "info"
    return Line(level, f"{reason}: {message}" if message else reason)


def _waiting(status: ModelExportStatus) -> str:
    """Return what a pod that does not run waits for."""
    scheduled = next((c for c in status.conditions if c.type == ConditionType.SCHEDULED), None)
    retried = status.phase is Phase.RUNNING and scheduled and scheduled.status == "False"
    if status.phase not in _WAITING and not retried:
        return ""
    message = scheduled.message if scheduled and scheduled.status != "True" else ""
    if not message and status.progress is not None:
        return ""  # its pod has just ended, and the result is being read
    return f"{status.phase}: {message or 'waiting for a pod'}"


def _trouble(status: ModelExportStatus) -> str:
    """Return why a pod is retried or cannot start: in the message of the first stage condition."""
    kinds = (ConditionType.EXPORTED, ConditionType.VERIFIED)
    for condition in status.conditions:
        if condition.type in kinds and condition.reason != NOT_REQUESTED:
            return condition.message if condition.status != "True" else ""
    return ""


def _steps(before: Export | None, now: Export) -> Iterator[Step]:
    """Yield the progress if it moved, and the stage in which it failed."""
    progress, items = _moving(now)
    if progress is not None and (before is None or _moving(before) != (progress, items)):
        yield Step(progress, _share(items) if items else None)
    failed = now.failure.stage if now.failure else None
    if failed is not None and failed in now.stages and (not progress or progress.stage != failed):
        yield Step(Progress(stage=failed, percent=progress.percent if progress else 0))


def _tenths(export: Export) -> int:
    """Return how many tenths of a batch have ended: a log gets a line for each."""
    items = export.status.items
    return 10 * (items.succeeded + items.failed) // items.total if items and items.total else 0


def _counts(export: Export) -> str:
    items = export.status.items
    assert items is not None
    return f"{items.succeeded} verified, {items.failed} failed of {items.total}"


def _moving(export: Export) -> tuple[Progress | None, Items | None]:
    return export.status.progress, export.status.items if export.is_batch else None


def _unseen(
    earlier: Progress | None, progress: Progress, stages: tuple[Stage, ...]
) -> Iterator[Step]:
    """Yield a step for each stage between two that were seen."""
    if progress.stage not in stages:
        return
    begin = stages.index(earlier.stage) + 1 if earlier and earlier.stage in stages else 0
    for stage in stages[begin : stages.index(progress.stage)]:
        yield Step(Progress(stage=stage, percent=progress.percent))


def _share(items: Items) -> ShareCounts:
    """Return the counts of a batch as those of a share that is all of it."""
    return ShareCounts(
        share=0,
        batch_total=items.total,
        share_total=items.total,
        succeeded=items.succeeded,
        failed=items.failed,
        running=items.running,
        reasons=items.reasons,
    )
