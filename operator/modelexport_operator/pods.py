"""Observed pods as frozen values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from pydantic import ValidationError

from modelexport_api.items import ShareCounts
from modelexport_api.pod import CONTAINER, PodResult
from modelexport_api.status import Progress
from modelexport_operator import clock, names

Object = Mapping[str, Any]

NEVER_RAN = {"StartError", "ContainerCannotRun"}
"""Reasons of a container that ended before its process started."""


@dataclass(frozen=True, slots=True)
class Terminated:
    """How the exporter's container ended."""

    exit_code: int
    reason: str
    finished_at: datetime | None
    result: PodResult | None
    message: str


@dataclass(frozen=True, slots=True)
class LogTail:
    """The latest values in the last lines of a pod's log."""

    progress: Progress | None = None
    peak_memory_bytes: int | None = None
    share: ShareCounts | None = None


@dataclass(frozen=True, slots=True)
class Obstacle:
    """Why the containers of a pod have not started: a reason of its condition, and a sentence."""

    reason: str
    message: str


@dataclass(frozen=True, slots=True)
class ObservedPod:
    """A pod of one of the operator's Jobs."""

    name: str
    uid: str
    phase: str
    created: datetime | None
    scheduled: bool
    scheduled_at: datetime | None
    """When the scheduler last changed its answer: to a node, or to `unschedulable`."""
    unschedulable: str | None
    waiting_reason: str | None
    waiting_message: str
    running: bool
    started_at: datetime | None
    terminated: Terminated | None
    disrupted: bool
    memory_limit: str | None
    index: int | None
    """The completion index: the number of the share, in an Indexed Job."""
    index_failures: int
    """Number of earlier pods of this index that failed."""
    failed_reason: str = ""
    """Why the pod as a whole failed: Evicted, UnexpectedAdmissionError, an init container."""
    failed_message: str = ""
    log: LogTail = LogTail()
    obstacle: Obstacle | None = None
    """Why its containers do not start, as the Events of a late pod report it."""

    @property
    def ended(self) -> bool:
        """Return whether the pod has ended, successfully or not."""
        return self.terminated is not None or self.phase not in {"Pending", "Running"}


def observe_pod(body: Object) -> ObservedPod:
    """Return the pod in an object from the API server."""
    meta, spec, status = body["metadata"], body.get("spec") or {}, body.get("status") or {}
    annotations = meta.get("annotations") or {}
    conditions = status.get("conditions") or []
    states = [s.get("state") or {} for s in status.get("containerStatuses") or []]
    inits = [s.get("state") or {} for s in status.get("initContainerStatuses") or []]
    waiting: Object = next((s["waiting"] for s in [*inits, *states] if s.get("waiting")), {})
    state = _exporter(status.get("containerStatuses"), "state")
    unschedulable = next((c for c in conditions if _is_unschedulable(c)), None)
    failed_reason, failed_message = _failure(status)
    limits = ((_exporter(spec.get("containers"), "resources")).get("limits")) or {}
    return ObservedPod(
        name=meta["name"],
        uid=meta.get("uid", ""),
        phase=status.get("phase", "Pending"),
        created=clock.parse(meta.get("creationTimestamp")),
        scheduled=bool(spec.get("nodeName")) or _is_true(conditions, "PodScheduled"),
        scheduled_at=_scheduled_at(conditions),
        unschedulable=unschedulable.get("message", "") if unschedulable else None,
        waiting_reason=waiting.get("reason"),
        waiting_message=waiting.get("message", ""),
        running="running" in state,
        started_at=_start_time(state),
        terminated=_parse_terminated(state.get("terminated")),
        disrupted=_is_true(conditions, "DisruptionTarget"),
        memory_limit=limits.get("memory"),
        index=_number(annotations.get(names.INDEX_ANNOTATION)),
        index_failures=_number(annotations.get(names.INDEX_FAILURES_ANNOTATION)) or 0,
        failed_reason=failed_reason,
        failed_message=failed_message,
    )


def current(pods: tuple[ObservedPod, ...]) -> ObservedPod | None:
    """Return the pod that has not ended; of several the youngest that is running."""
    alive = [pod for pod in pods if not pod.ended]
    return max(
        alive, key=lambda pod: (pod.running, pod.created is not None, pod.created), default=None
    )


def _failure(status: Object) -> tuple[str, str]:
    """Return reason and message of a failed pod whose exporter may not have run."""
    if status.get("phase") != "Failed":
        return "", ""
    if status.get("reason"):
        return status["reason"], status.get("message", "")
    for entry in status.get("initContainerStatuses") or []:
        end = (entry.get("state") or {}).get("terminated") or {}
        if end.get("exitCode"):
            message = f"{entry.get('name')} ended with exit code {end['exitCode']}"
            return "InitContainerFailed", message
    return "", ""


def _start_time(state: Object) -> datetime | None:
    entry = state.get("running") or state.get("terminated") or {}
    return None if entry.get("reason") in NEVER_RAN else clock.parse(entry.get("startedAt"))


def _parse_terminated(state: Object | None) -> Terminated | None:
    if state is None:
        return None
    message = state.get("message", "")
    try:
        result = PodResult.model_validate_json(message) if message else None
    except ValidationError:
        result = None
    return Terminated(
        exit_code=state.get("exitCode", -1),
        reason=state.get("reason", ""),
        finished_at=clock.parse(state.get("finishedAt")),
        result=result,
        message=message,
    )


def _exporter(entries: list[Object] | None, key: str) -> Object:
    found = next((entry for entry in entries or [] if entry.get("name") == CONTAINER), {})
    return found.get(key) or {}


def _is_unschedulable(condition: Object) -> bool:
    return (
        condition.get("type") == "PodScheduled"
        and condition.get("status") == "False"
        and condition.get("reason") == "Unschedulable"
    )


def _scheduled_at(conditions: list[Object]) -> datetime | None:
    found = next((c for c in conditions if c.get("type") == "PodScheduled"), {})
    return clock.parse(found.get("lastTransitionTime"))


def _is_true(conditions: list[Object], kind: str) -> bool:
    return any(c.get("type") == kind and c.get("status") == "True" for c in conditions)


def _number(text: str | None) -> int | None:
    return int(text) if text and text.isdigit() else None
