"""Which stages and conditions a mode has: what is never asked for is neither missing nor done."""

from __future__ import annotations

from modelexport_api.status import ConditionType, Stage
from modelexport_api.verification import Mode

NOT_REQUESTED = "NotRequested"
"""Reason of a condition that the mode never brings about."""

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
    ConditionType.EXPORTED: "mode Verify checks an artifact that exists",
    ConditionType.PUBLISHED: "mode Verify publishes its report only",
}


def stages_of(mode: Mode) -> tuple[Stage, ...]:
    """Return the stages that a mode goes through, in order."""
    return _STAGES[mode]


def is_requested(kind: ConditionType, mode: Mode) -> bool:
    """Tell whether a mode is to bring the condition about."""
    return kind in _REQUESTED[mode]


def end_of(mode: Mode) -> ConditionType:
    """Return the condition whose truth completes a run."""
    return [kind for kind in ENDS_OF if is_requested(kind, mode)][-1]
