"""The status that a resource would have after a local run: pure, with the operator's reasons."""

from __future__ import annotations

from datetime import datetime

from modelexport_api.conditions import (
    ConditionState,
    after_batch,
    after_run,
    batch_reason,
    end_of,
    stages_of,
)
from modelexport_api.items import Items
from modelexport_api.pod import PodResult
from modelexport_api.spec import Mode
from modelexport_api.status import (
    ConditionType,
    ModelExportStatus,
    Phase,
    Progress,
    VerificationResult,
)

_REUSED = "reused an artifact of the same source and spec"


def status_of(
    result: PodResult,
    started: datetime,
    ended: datetime,
    generation: int | None,
    mode: Mode = Mode.EXPORT,
) -> ModelExportStatus:
    """Return the status of a resource whose only run ended with this result."""
    failure, items = result.failure, _items(result)
    if items is None:
        stages = after_run(mode, result.completed, failure, _messages(result.verification))
        reason, message = end_of(mode).value, _REUSED if result.reused else ""
    else:
        message = _counts(items)
        stages = after_batch(mode, items, failure, message)
        reason = batch_reason(end_of(mode), items)
    end = ConditionState(ConditionType.COMPLETE, "True", reason, message)
    if failure is not None:
        end = ConditionState(ConditionType.FAILED, "True", failure.reason.value, failure.message)
    return ModelExportStatus(
        observed_generation=generation,
        phase=Phase.FAILED if failure else Phase.SUCCEEDED,
        conditions=[entry.to_condition((), generation, ended) for entry in [*stages, end]],
        start_time=started,
        completion_time=ended,
        attempts=1,
        artifact=result.artifact,
        report_uri=result.report_uri,
        verification=result.verification,
        failure=failure,
        items=items,
        progress=None
        if failure
        else Progress(stage=stages_of(mode)[-1], percent=100, message=end_of(mode).value.lower()),
    )


def _items(result: PodResult) -> Items | None:
    counts = result.share
    if counts is None:
        return None
    return Items(
        total=counts.batch_total,
        succeeded=counts.succeeded,
        failed=counts.failed,
        reasons=counts.reasons,
        results_uri=counts.results_uri,
    )


def _messages(verification: VerificationResult | None) -> dict[ConditionType, str]:
    if verification is None:
        return {}
    message = (
        f"{verification.samples} samples on {verification.provider}, largest relative error "
        f"{verification.max_rel_error:.2g}"
    )
    return {ConditionType.VERIFIED: message}


def _counts(items: Items) -> str:
    failed = f"; {items.failed} failed" if items.failed else ""
    return f"{items.succeeded} of {items.total} checkpoints succeeded{failed}: {items.results_uri}"
