"""The stages and conditions of each mode."""

from __future__ import annotations

from collections.abc import Container, Mapping
from dataclasses import dataclass
from typing import Literal

from modelexport_api.items import Items
from modelexport_api.status import ConditionType, Failure, Stage
from modelexport_api.verification import Mode

NOT_REACHED = "NotReached"
"""Reason of a condition whose stage comes after the one that failed."""

NOT_REQUESTED = "NotRequested"
"""Reason of a condition that does not apply to the mode."""

ENDS_OF: dict[ConditionType, Stage] = {
    ConditionType.EXPORTED: Stage.CONTRACT,
    ConditionType.VERIFIED: Stage.VERIFY,
    ConditionType.PUBLISHED: Stage.PUBLISH,
}
"""A condition is True once this stage is completed."""

_STAGES: dict[Mode, tuple[Stage, ...]] = {
    Mode.EXPORT: tuple(Stage),
    Mode.VERIFY: (Stage.FETCH, Stage.LOAD, Stage.CONTRACT, Stage.VERIFY),
}
_REQUESTED: dict[Mode, frozenset[ConditionType]] = {
    Mode.EXPORT: frozenset(ENDS_OF),
    Mode.VERIFY: frozenset({ConditionType.VERIFIED}),
}
NOT_REQUESTED_MESSAGES: dict[ConditionType, str] = {
    ConditionType.EXPORTED: "mode Verify checks an existing artifact",
    ConditionType.PUBLISHED: "mode Verify publishes only its report",
}


def stages_of(mode: Mode) -> tuple[Stage, ...]:
    """Return the stages of a mode, in order."""
    return _STAGES[mode]


def is_requested(kind: ConditionType, mode: Mode) -> bool:
    """Return whether the condition applies to a mode."""
    return kind in _REQUESTED[mode]


def end_of(mode: Mode) -> ConditionType:
    """Return the condition that completes a run when it becomes True."""
    return [kind for kind in ENDS_OF if is_requested(kind, mode)][-1]


@dataclass(frozen=True)
class StageCondition:
    """Exported, Verified or Published after a run, without its times."""

    type: ConditionType
    status: Literal["True", "False"]
    reason: str
    message: str = ""


def not_requested(kind: ConditionType) -> StageCondition:
    """Return the condition of a stage that the mode does not have."""
    return StageCondition(kind, "False", NOT_REQUESTED, NOT_REQUESTED_MESSAGES[kind])


def after_run(
    mode: Mode,
    completed: Container[Stage],
    failure: Failure | None,
    messages: Mapping[ConditionType, str],
) -> list[StageCondition]:
    """Return True for each completed stage, then one False with the failure, then NotReached."""
    found = []
    for kind, stage in ENDS_OF.items():
        if not is_requested(kind, mode):
            found.append(not_requested(kind))
        elif stage in completed:
            found.append(StageCondition(kind, "True", kind.value, messages.get(kind, "")))
        elif failure is not None:
            found.append(StageCondition(kind, "False", failure.reason.value, failure.message))
            failure = None
        else:
            found.append(StageCondition(kind, "False", NOT_REACHED))
    return found


def after_batch(
    mode: Mode, items: Items, failure: Failure | None, message: str
) -> list[StageCondition]:
    """Return the same condition for every stage, since each checkpoint has its own result."""
    found = []
    for kind in ENDS_OF:
        if not is_requested(kind, mode):
            found.append(not_requested(kind))
        elif failure is not None:
            found.append(StageCondition(kind, "False", failure.reason.value, message))
        else:
            found.append(StageCondition(kind, "True", batch_reason(kind, items), message))
    return found


def batch_reason(kind: ConditionType, items: Items) -> str:
    """Return the reason of a condition that is True for a batch, which may be so only in part."""
    return f"Partially{kind.value}" if items.failed else kind.value
