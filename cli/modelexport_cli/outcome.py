"""The status that a resource would have after a result: pure."""

from __future__ import annotations

from datetime import datetime

from modelexport_api.pod import PodResult
from modelexport_api.status import (
    Condition,
    ConditionType,
    ModelExportStatus,
    Phase,
    Stage,
    VerificationResult,
)

_PROVED_BY = {
    ConditionType.EXPORTED: Stage.CONTRACT,
    ConditionType.VERIFIED: Stage.VERIFY,
    ConditionType.PUBLISHED: Stage.PUBLISH,
}


def status_of(
    result: PodResult, started: datetime, ended: datetime, generation: int | None
) -> ModelExportStatus:
    """Return the status of a resource whose only run ended with this result."""
    return ModelExportStatus(
        observed_generation=generation,
        phase=Phase.FAILED if result.failure else Phase.SUCCEEDED,
        conditions=_conditions(result, ended, generation),
        start_time=started,
        completion_time=ended,
        attempts=1,
        artifact=result.artifact,
        report_uri=result.report_uri,
        verification=result.verification,
        failure=result.failure,
    )


def _conditions(result: PodResult, ended: datetime, generation: int | None) -> list[Condition]:
    failure = result.failure

    def condition(kind: ConditionType, *, true: bool, reason: str, message: str) -> Condition:
        return Condition(
            type=kind.value,
            status="True" if true else "False",
            reason=reason,
            message=message,
            last_transition_time=ended,
            observed_generation=generation,
        )

    found: list[Condition] = []
    for kind, stage in _PROVED_BY.items():
        if stage in result.completed:
            message = _message(kind, result.verification)
            found.append(condition(kind, true=True, reason=kind.value, message=message))
        elif failure is not None and all(entry.status == "True" for entry in found):
            message = failure.message
            found.append(condition(kind, true=False, reason=failure.reason.value, message=message))
        else:
            found.append(condition(kind, true=False, reason="NotReached", message=""))
    if failure is None:
        message = "the artifact of an earlier run is up to date" if result.reused else ""
        end = condition(ConditionType.COMPLETE, true=True, reason="Published", message=message)
    else:
        reason, message = failure.reason.value, failure.message
        end = condition(ConditionType.FAILED, true=True, reason=reason, message=message)
    return [*found, end]


def _message(kind: ConditionType, verification: VerificationResult | None) -> str:
    if kind is not ConditionType.VERIFIED or verification is None:
        return ""
    return (
        f"{verification.samples} samples on {verification.provider}, largest relative error "
        f"{verification.max_rel_error:.2g}"
    )
