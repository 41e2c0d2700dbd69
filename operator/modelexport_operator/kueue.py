"""What Kueue says about a Job in a queue: a pure function of the Workload that stands for it.

A Workload has conditions of its own. While it waits, QuotaReserved is False with the reason of the
last attempt; Evicted stays True from an eviction until quota is reserved again. Older versions of
Kueue state the reasons `Pending` and `Inadmissible` only, and the rest in the message.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from modelexport_api.waits import Wait

Object = Mapping[str, Any]

NORMAL = {Wait.QUEUED, Wait.PREEMPTED, Wait.EVICTED, Wait.ADMISSION_CHECKS}
"""Reasons that pass without anybody's help."""

REASONS = NORMAL | {
    Wait.QUEUE_MISSING,
    Wait.QUEUE_STOPPED,
    Wait.EXCEEDS_QUOTA,
    Wait.NO_MATCHING_FLAVOR,
    Wait.INADMISSIBLE,
    Wait.DEACTIVATED,
}
"""Reasons of the condition Scheduled of an export in a queue."""

_OF_QUOTA = {
    "ExceedsMaxQuota": Wait.EXCEEDS_QUOTA,
    "Suspended": Wait.QUEUE_STOPPED,
    "NoMatchingFlavor": Wait.NO_MATCHING_FLAVOR,
}
_OF_MESSAGE = {
    "doesn't exist": Wait.QUEUE_MISSING,
    "missing": Wait.QUEUE_MISSING,
    "is inactive": Wait.QUEUE_STOPPED,
    "is stopped": Wait.QUEUE_STOPPED,
}
_DEACTIVATED = "Deactivated"
"""The beginning of Kueue's reasons for the eviction of what was deactivated."""


@dataclass(frozen=True, slots=True)
class ObservedCondition:
    """A condition of a Workload."""

    status: bool
    reason: str
    message: str


@dataclass(frozen=True, slots=True)
class ObservedWorkload:
    """A Workload, as far as it says why its Job waits."""

    name: str
    active: bool
    conditions: Mapping[str, ObservedCondition]
    checks: tuple[str, ...]
    """Admission checks that are not ready, each with its state and message."""


@dataclass(frozen=True, slots=True)
class QueueState:
    """Why a Job waits in its queue."""

    reason: Wait
    message: str


def observe_workload(body: Object) -> ObservedWorkload:
    """Return the Workload in an object from the API server."""
    spec, status = body.get("spec") or {}, body.get("status") or {}
    return ObservedWorkload(
        name=body["metadata"]["name"],
        active=spec.get("active") is not False,
        conditions={
            entry.get("type", ""): ObservedCondition(
                entry.get("status") == "True", entry.get("reason", ""), entry.get("message", "")
            )
            for entry in status.get("conditions") or []
        },
        checks=tuple(
            _describe_check(check)
            for check in status.get("admissionChecks") or []
            if check.get("state") != "Ready"
        ),
    )


def describe(workload: ObservedWorkload) -> QueueState:
    """Return why the Workload's Job does not run."""
    evicted, waiting = _true(workload, "Evicted"), _false(workload, "QuotaReserved")
    if not workload.active:
        return _deactivated(workload, evicted)
    blocked = _blocked(waiting) if waiting is not None else None
    if waiting is not None and blocked is not None:
        return QueueState(blocked, _sentence(workload, waiting.message))
    if evicted is not None and not evicted.reason.startswith(_DEACTIVATED):  # else: reactivated
        return _evicted(workload, evicted, waiting)
    if _true(workload, "Admitted") is not None:
        return QueueState(Wait.QUEUED, _sentence(workload, "it is admitted; its Job is starting"))
    if waiting is None and _true(workload, "QuotaReserved") is not None:
        checks = "; ".join(workload.checks) or "its admission checks are not ready"
        return QueueState(
            Wait.ADMISSION_CHECKS, _sentence(workload, f"quota is reserved; {checks}")
        )
    words = waiting.message if waiting is not None and waiting.message else "it waits for admission"
    return QueueState(Wait.QUEUED, _sentence(workload, words))


def _deactivated(workload: ObservedWorkload, evicted: ObservedCondition | None) -> QueueState:
    own = evicted is not None and evicted.reason.startswith(_DEACTIVATED)
    why = evicted.message if evicted is not None and own else "it is deactivated"
    remedy = (
        "Kueue does not admit it again until you set its spec.active to true, or suspend and "
        "resume the ModelExport"
    )
    return QueueState(Wait.DEACTIVATED, _sentence(workload, f"{why}; {remedy}"))


def _evicted(
    workload: ObservedWorkload, evicted: ObservedCondition, waiting: ObservedCondition | None
) -> QueueState:
    preempted = evicted.reason == Wait.PREEMPTED
    parts = [f"{evicted.reason}: {evicted.message}"]
    if waiting is not None and waiting.message not in {"", evicted.message}:
        parts.append(f"now: {waiting.message}")
    return QueueState(
        Wait.PREEMPTED if preempted else Wait.EVICTED, _sentence(workload, "; ".join(parts))
    )


def _blocked(waiting: ObservedCondition) -> Wait | None:
    """Return why the Workload cannot be admitted until a person changes something; else None."""
    if waiting.reason in {"Inadmissible", "Misconfigured"}:
        return next(
            (r for text, r in _OF_MESSAGE.items() if text in waiting.message), Wait.INADMISSIBLE
        )
    if waiting.reason == "Pending" and _exceeds_quota(waiting.message):
        return Wait.EXCEEDS_QUOTA
    return _OF_QUOTA.get(waiting.reason)


def _exceeds_quota(message: str) -> bool:
    """Return whether no flavor could ever hold the Job: none only lacks *unused* quota."""
    return "insufficient quota for" in message and "insufficient unused quota" not in message


def _describe_check(check: Object) -> str:
    message = check.get("message") or ""
    about = f": {message}" if message else ""
    return f"admission check {check.get('name')} is {check.get('state')}{about}"


def _sentence(workload: ObservedWorkload, text: str) -> str:
    return f"Workload {workload.name}: {text}"


def _true(workload: ObservedWorkload, kind: str) -> ObservedCondition | None:
    found = workload.conditions.get(kind)
    return found if found is not None and found.status else None


def _false(workload: ObservedWorkload, kind: str) -> ObservedCondition | None:
    found = workload.conditions.get(kind)
    return found if found is not None and not found.status else None
