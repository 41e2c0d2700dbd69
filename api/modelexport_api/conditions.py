"""The stages and conditions of each mode."""

from __future__ import annotations

from modelexport_api.status import ConditionType, Stage
from modelexport_api.verification import Mode

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
