"""The conditions for tools that wait: Ready, Reconciling and Stalled of kstatus, and Finished.

helm, Flux and Argo CD do not know ModelExports. kstatus, the convention that they share, reads
these conditions; without them it takes every ModelExport for ready.

| phase | Ready | Reconciling | Stalled | Finished | kstatus |
|---|---|---|---|---|---|
| Pending, Queued, Running | Unknown | True | | | InProgress |
| Suspended | Unknown | | | | InProgress |
| Queued, deactivated by Kueue | Unknown | | True | | Failed |
| Succeeded | True | | | True | Current |
| Failed | False | | True | True | Failed |

Reconciling, Stalled and Finished are present while they are True. A suspended export is not
reconciling, since nothing is done for it; it is not ready either, since no verdict exists. Waiting
for quota or for a node may end without a person, so it is no reason to be stalled.

The conditions depend on nothing but the phase, the other conditions and the failure, so they
change only when the status changes, and cause no further writes.
"""

from __future__ import annotations

from collections.abc import Sequence

from modelexport_api.conditions import NOT_REQUESTED, ConditionState
from modelexport_api.status import ConditionType, Failure, Phase
from modelexport_api.waits import Wait

_IN_PROGRESS = {
    Phase.PENDING: "a pod is being created, scheduled or started",
    Phase.QUEUED: "the Job waits for admission",
    Phase.SUSPENDED: "spec.suspend is true",
    Phase.RUNNING: "a pod has started",
}


_NEEDS_A_PERSON = frozenset({Wait.DEACTIVATED})
"""Reasons of an export in progress that no time changes: Kueue does not admit it again."""


def conditions(
    phase: Phase, others: Sequence[ConditionState], failure: Failure | None
) -> list[ConditionState]:
    """Return the conditions that follow from a phase, the other conditions and the failure."""
    if phase is Phase.SUCCEEDED:
        return _succeeded(others)
    if phase is Phase.FAILED:
        return _failed(others, failure)
    return _in_progress(phase, others)


def _succeeded(others: Sequence[ConditionState]) -> list[ConditionState]:
    end = _find(others, ConditionType.COMPLETE)
    return [
        ConditionState(ConditionType.READY, "True", end.reason, end.message),
        _finished(ConditionType.COMPLETE),
    ]


def _failed(others: Sequence[ConditionState], failure: Failure | None) -> list[ConditionState]:
    end = _find(others, ConditionType.FAILED)
    hint = f" ({failure.hint})" if failure is not None and failure.hint else ""
    message = f"{end.message}{hint}"
    return [
        ConditionState(ConditionType.READY, "False", end.reason, message),
        ConditionState(ConditionType.STALLED, "True", end.reason, message),
        _finished(ConditionType.FAILED),
    ]


def _in_progress(phase: Phase, others: Sequence[ConditionState]) -> list[ConditionState]:
    reason, message = _waits_for(phase, others)
    ready = ConditionState(ConditionType.READY, "Unknown", reason, message)
    if phase is Phase.SUSPENDED:
        return [ready]
    if reason in _NEEDS_A_PERSON:
        return [ready, ConditionState(ConditionType.STALLED, "True", reason, message)]
    return [ready, ConditionState(ConditionType.RECONCILING, "True", reason, message)]


def _waits_for(phase: Phase, others: Sequence[ConditionState]) -> tuple[str, str]:
    """Return reason and message of the first condition that explains why it is not True."""
    for entry in others:
        if entry.status != "True" and entry.message and entry.reason != NOT_REQUESTED:
            return entry.reason, entry.message
    return phase.value, _IN_PROGRESS[phase]


def _finished(end: ConditionType) -> ConditionState:
    """Return the condition whose reason is the type of the one that ended the export."""
    return ConditionState(ConditionType.FINISHED, "True", end.value, f"{end.value} is True")


def _find(others: Sequence[ConditionState], kind: ConditionType) -> ConditionState:
    return next(entry for entry in others if entry.type == kind)
