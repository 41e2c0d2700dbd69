"""Conditions and failures: how policies describe them, within the limits of the API."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from modelexport_api.base import truncate
from modelexport_api.reasons import Reason, is_retryable
from modelexport_api.status import (
    CONDITION_MESSAGE_LIMIT,
    FAILURE_HINT_LIMIT,
    FAILURE_MESSAGE_LIMIT,
    Condition,
    Failure,
    Stage,
)


@dataclass(frozen=True)
class ConditionState:
    """A condition without its time and generation."""

    type: str
    status: Literal["True", "False", "Unknown"]
    reason: str
    message: str = ""

    def to_condition(
        self, stored: Iterable[Condition], generation: int | None, now: datetime
    ) -> Condition:
        """Return the condition to store; its time changes only when its status does."""
        before = find_condition(stored, self.type)
        same = before is not None and before.status == self.status
        return Condition(
            type=self.type,
            status=self.status,
            reason=str(self.reason),
            message=truncate(self.message, CONDITION_MESSAGE_LIMIT),
            last_transition_time=before.last_transition_time if before and same else now,
            observed_generation=generation,
        )


def find_condition(conditions: Iterable[Condition], kind: str) -> Condition | None:
    """Return the condition of this type."""
    return next((entry for entry in conditions if entry.type == kind), None)


def new_failure(
    reason: Reason, message: str, hint: str = "", *, stage: Stage | None = None
) -> Failure:
    """Return a failure with its texts truncated to the limits of the API."""
    return Failure(
        reason=reason,
        message=truncate(message, FAILURE_MESSAGE_LIMIT),
        hint=truncate(hint, FAILURE_HINT_LIMIT),
        stage=stage,
        retryable=is_retryable(reason),
    )
