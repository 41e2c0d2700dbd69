"""The status that a resource would have after a result: pure."""

from __future__ import annotations

from datetime import datetime

from modelexport_api.conditions import (
    ENDS_OF,
    NOT_REQUESTED,
    NOT_REQUESTED_MESSAGES,
    end_of,
    is_requested,
)
from modelexport_api.pod import PodResult
from modelexport_api.spec import Mode
from modelexport_api.status import (
    Condition,
    ConditionType,
    ModelExportStatus,
    Phase,
    VerificationResult,
)


def status_of(
    result: PodResult,
    started: datetime,
    ended: datetime,
    generation: int | None,
    mode: Mode = Mode.EXPORT,
) -> ModelExportStatus:
    """Return the status of a resource whose only run ended with this result."""
    return ModelExportStatus(
        observed_generation=generation,
        phase=Phase.FAILED if result.failure else Phase.SUCCEEDED,
        conditions=_conditions(result, ended, generation, mode),
        start_time=started,
        completion_time=ended,
        attempts=1,
        artifact=result.artifact,
        report_uri=result.report_uri,
        verification=result.verification,
        failure=result.failure,
    )


def _conditions(
    result: PodResult, ended: datetime, generation: int | None, mode: Mode
) -> list[Condition]:
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
    blamed = False
    for kind, stage in ENDS_OF.items():
        if not is_requested(kind, mode):
            message = NOT_REQUESTED_MESSAGES[kind]
            found.append(condition(kind, true=False, reason=NOT_REQUESTED, message=message))
        elif stage in result.completed:
            message = _message(kind, result.verification)
            found.append(condition(kind, true=True, reason=kind.value, message=message))
        elif failure is not None and not blamed:
            blamed, message = True, failure.message
            found.append(condition(kind, true=False, reason=failure.reason.value, message=message))
        else:
            found.append(condition(kind, true=False, reason="NotReached", message=""))
    if failure is None:
        message = "the artifact of an earlier run is up to date" if result.reused else ""
        end = condition(
            ConditionType.COMPLETE, true=True, reason=end_of(mode).value, message=message
        )
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
