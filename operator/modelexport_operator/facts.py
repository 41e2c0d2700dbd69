"""What policies and status are made of: failures within the API's limits, conditions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from modelexport_api.reasons import Reason, is_retryable
from modelexport_api.status import Condition, ConditionType, Failure, ModelExportStatus, Stage

MESSAGE_LIMIT = 2048
HINT_LIMIT = 1024


@dataclass(frozen=True)
class Fact:
    """A condition without its times."""

    type: ConditionType
    status: Literal["True", "False", "Unknown"]
    reason: str
    message: str = ""


def failure(reason: Reason, message: str, hint: str = "", *, stage: Stage | None = None) -> Failure:
    """Return a failure whose texts are cut to what the API allows."""
    return Failure(
        reason=reason,
        message=cut(message, MESSAGE_LIMIT),
        hint=cut(hint, HINT_LIMIT),
        stage=stage,
        retryable=is_retryable(reason),
    )


def condition(status: ModelExportStatus, kind: ConditionType) -> Condition | None:
    """Return the condition of this type."""
    return next((entry for entry in status.conditions if entry.type == kind), None)


def cut(text: str, length: int) -> str:
    """Return at most so many characters of a text."""
    return text if len(text) <= length else text[: length - 1] + "…"
