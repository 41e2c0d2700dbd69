"""The status that a batch would have after a run here: pure, with the operator's reasons."""

from __future__ import annotations

from datetime import datetime

from modelexport_api.conditions import (
    ENDS_OF,
    NOT_REQUESTED,
    NOT_REQUESTED_MESSAGES,
    end_of,
    is_requested,
)
from modelexport_api.items import Items
from modelexport_api.pod import PodResult
from modelexport_api.spec import Mode
from modelexport_api.status import Condition, ConditionType, ModelExportStatus, Phase


def batch_status_of(
    result: PodResult,
    started: datetime,
    ended: datetime,
    generation: int | None,
    mode: Mode = Mode.EXPORT,
) -> ModelExportStatus:
    """Return the status of a batch whose only run ended with this result."""
    counts = result.share
    items = None
    if counts is not None:
        items = Items(
            total=counts.batch_total,
            succeeded=counts.succeeded,
            failed=counts.failed,
            reasons=counts.reasons,
            results_uri=counts.results_uri,
        )
    return ModelExportStatus(
        observed_generation=generation,
        phase=Phase.FAILED if result.failure else Phase.SUCCEEDED,
        conditions=[
            Condition(
                type=kind.value,
                status=status,
                reason=reason,
                message=message,
                last_transition_time=ended,
                observed_generation=generation,
            )
            for kind, status, reason, message in _conditions(result, items, mode)
        ],
        start_time=started,
        completion_time=ended,
        attempts=1,
        report_uri=result.report_uri,
        failure=result.failure,
        items=items,
    )


def _conditions(
    result: PodResult, items: Items | None, mode: Mode
) -> list[tuple[ConditionType, str, str, str]]:
    failure, said = result.failure, _counted(items) if items else ""
    found = []
    for kind in ENDS_OF:
        if not is_requested(kind, mode):
            found.append((kind, "False", NOT_REQUESTED, NOT_REQUESTED_MESSAGES[kind]))
        elif failure is not None:
            found.append((kind, "False", failure.reason.value, said or failure.message))
        else:
            found.append((kind, "True", _reason(kind, items), said))
    if failure is not None:
        end = (ConditionType.FAILED, "True", failure.reason.value, failure.message)
    else:
        end = (ConditionType.COMPLETE, "True", _reason(end_of(mode), items), said)
    return [*found, end]


def _reason(kind: ConditionType, items: Items | None) -> str:
    return f"Partially{kind.value}" if items and items.failed else kind.value


def _counted(items: Items) -> str:
    failed = f"; {items.failed} failed" if items.failed else ""
    return f"{items.succeeded} of {items.total} checkpoints are done{failed}: {items.results_uri}"
