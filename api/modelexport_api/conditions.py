"""The stages and conditions of each mode."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from modelexport_api.base import truncate
from modelexport_api.items import Items
from modelexport_api.status import (
    CONDITION_MESSAGE_LIMIT,
    Condition,
    ConditionType,
    Failure,
    Stage,
)
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

FOR_TOOLS = frozenset(
    {
        ConditionType.READY,
        ConditionType.RECONCILING,
        ConditionType.STALLED,
        ConditionType.FINISHED,
    }
)
"""Conditions that say nothing new to a person: they follow from the others."""

_STAGES: dict[Mode, tuple[Stage, ...]] = {
    Mode.EXPORT: tuple(Stage),
    Mode.VERIFY: (Stage.FETCH, Stage.LOAD, Stage.CONTRACT, Stage.VERIFY),
}
_REQUESTED: dict[Mode, frozenset[ConditionType]] = {
    Mode.EXPORT: frozenset(ENDS_OF),
    Mode.VERIFY: frozenset({ConditionType.VERIFIED}),
}
PARTIALLY = "Partially"
"""Prefix of the reason of a condition that is True for a part of a batch."""

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
class ConditionState:
    """A condition without its time and generation."""

    type: str
    status: Literal["True", "False", "Unknown"]
    reason: str
    message: str = ""
    since: datetime | None = None
    """When the status became what it is, if that is known."""

    def to_condition(
        self, stored: Iterable[Condition], generation: int | None, now: datetime
    ) -> Condition:
        """Return the condition to store; its time changes only when its status does."""
        before = find_condition(stored, self.type)
        return Condition(
            type=str(self.type),
            status=self.status,
            reason=str(self.reason),
            message=truncate(self.message, CONDITION_MESSAGE_LIMIT),
            last_transition_time=self._transition_time(before, now),
            observed_generation=generation,
        )

    def _transition_time(self, before: Condition | None, now: datetime) -> datetime:
        """Return when the status became what it is: never before the last known transition."""
        if before is None:
            return min(self.since or now, now)
        if before.status == self.status:
            return before.last_transition_time
        return max(before.last_transition_time, min(self.since or now, now))


def find_condition(conditions: Iterable[Condition], kind: str) -> Condition | None:
    """Return the condition of this type."""
    return next((entry for entry in conditions if entry.type == kind), None)


def not_requested(kind: ConditionType) -> ConditionState:
    """Return the condition for a stage that is not part of the mode."""
    return ConditionState(kind, "False", NOT_REQUESTED, NOT_REQUESTED_MESSAGES[kind])


def after_run(
    mode: Mode,
    completed: Container[Stage],
    failure: Failure | None,
    messages: Mapping[ConditionType, str],
) -> list[ConditionState]:
    """Return the three stage conditions: True, then one False with the failure, then NotReached."""
    found = []
    for kind, stage in ENDS_OF.items():
        if not is_requested(kind, mode):
            found.append(not_requested(kind))
        elif stage in completed:
            found.append(ConditionState(kind, "True", kind.value, messages.get(kind, "")))
        elif failure is not None:
            found.append(ConditionState(kind, "False", failure.reason.value, failure.message))
            failure = None
        else:
            found.append(ConditionState(kind, "False", NOT_REACHED))
    return found


def after_batch(
    mode: Mode, items: Items, failure: Failure | None, message: str
) -> list[ConditionState]:
    """Return the same condition for every stage, since each checkpoint has its own result."""
    found = []
    for kind in ENDS_OF:
        if not is_requested(kind, mode):
            found.append(not_requested(kind))
        elif failure is not None:
            found.append(ConditionState(kind, "False", failure.reason.value, message))
        else:
            found.append(ConditionState(kind, "True", batch_reason(kind, items), message))
    return found


def batch_reason(kind: ConditionType, items: Items) -> str:
    """Return the reason of a condition that is True for a batch, if only for a part of it."""
    return f"{PARTIALLY}{kind.value}" if items.failed else kind.value
