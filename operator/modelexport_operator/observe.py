"""What the API server said, as frozen values: the only input of every decision.

Parsing is lenient where objects are written by others (a field that is missing is empty) and
strict where a decision hangs on it (conditions, exit codes).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from pydantic import ValidationError

from modelexport_api.pod import CONTAINER, PodResult
from modelexport_api.resource import ManifestError, ModelExport, parse
from modelexport_api.status import ConditionType, Failure, ModelExportStatus, Progress
from modelexport_operator import names

Object = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ObservedResource:
    """A ModelExport: what it asks for, and what its status says already."""

    namespace: str
    name: str
    uid: str
    generation: int
    resource_version: str
    export: ModelExport | None
    error: str | None
    """Why this version of the operator cannot read the spec, where it cannot."""
    status: ModelExportStatus
    terminal: bool
    deleting: bool


@dataclass(frozen=True, slots=True)
class ObservedJob:
    """A Job of ours."""

    namespace: str
    name: str
    uid: str
    owner_uid: str
    generation: int
    run: int
    created: datetime | None
    active: int
    ready: int
    succeeded: int
    failed: int
    complete: bool
    failed_reason: str | None
    failed_message: str
    finished_at: datetime | None
    stopped: Failure | None
    active_deadline_seconds: int | None
    backoff_limit: int
    deleting: bool

    @property
    def finished(self) -> bool:
        """Tell whether the Job has ended and none of its pods runs any more."""
        return self.complete or self.failed_reason is not None


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
    """What the last lines of a pod's log say."""

    progress: Progress | None = None
    peak_memory_bytes: int | None = None


@dataclass(frozen=True, slots=True)
class ObservedPod:
    """A pod of a Job of ours."""

    name: str
    phase: str
    created: datetime | None
    scheduled: bool
    unschedulable: str | None
    waiting_reason: str | None
    waiting_message: str
    running: bool
    started_at: datetime | None
    terminated: Terminated | None
    disrupted: bool
    memory_limit: str | None
    failed_reason: str = ""
    """Why the pod as a whole failed: Evicted, UnexpectedAdmissionError, an init container."""
    failed_message: str = ""
    log: LogTail = LogTail()


@dataclass(frozen=True, slots=True)
class Observation:
    """All that a decision may know."""

    resource: ObservedResource
    job: ObservedJob | None = None
    pods: tuple[ObservedPod, ...] = ()
    job_refused: str | None = None
    """What the API server answered when it refused the Job for good."""
    pod_refused: str | None = None
    """What the API server answered when the Job controller could not create the pod."""


def resource(body: Object) -> ObservedResource:
    """Return the ModelExport in an object from the API server."""
    meta = body.get("metadata") or {}
    stored = body.get("status") or {}
    try:
        export, error = parse(dict(body)), None
    except ManifestError as refusal:
        export, error = None, str(refusal)
    return ObservedResource(
        namespace=meta.get("namespace", ""),
        name=meta.get("name", ""),
        uid=meta.get("uid", ""),
        generation=meta.get("generation", 1),
        resource_version=meta.get("resourceVersion", ""),
        export=export,
        error=error,
        status=_status(stored),
        terminal=is_terminal(body),
        deleting="deletionTimestamp" in meta,
    )


def is_terminal(body: Object) -> bool:
    """Tell whether Complete or Failed is stored, whatever the rest of the status looks like."""
    conditions = (body.get("status") or {}).get("conditions") or []
    return any(_true(conditions, kind) for kind in (ConditionType.COMPLETE, ConditionType.FAILED))


def job(body: Object) -> ObservedJob:
    """Return the Job in an object from the API server."""
    meta, spec, status = body["metadata"], body.get("spec") or {}, body.get("status") or {}
    annotations = meta.get("annotations") or {}
    conditions = status.get("conditions") or []
    complete, failed = _true(conditions, "Complete"), _true(conditions, "Failed")
    owners = [o for o in meta.get("ownerReferences") or [] if o.get("controller")]
    ended = complete or failed
    return ObservedJob(
        namespace=meta["namespace"],
        name=meta["name"],
        uid=meta["uid"],
        owner_uid=owners[0]["uid"] if owners else "",
        generation=_number(annotations.get(names.GENERATION_ANNOTATION), 1),
        run=_number(annotations.get(names.RUN_ANNOTATION), 1),
        created=_time(meta.get("creationTimestamp")),
        active=status.get("active") or 0,
        ready=status.get("ready") or 0,
        succeeded=status.get("succeeded") or 0,
        failed=status.get("failed") or 0,
        complete=complete is not None,
        failed_reason=failed.get("reason", "Failed") if failed else None,
        failed_message=failed.get("message", "") if failed else "",
        finished_at=_time(ended.get("lastTransitionTime")) if ended else None,
        stopped=_failure(annotations.get(names.FAILURE_ANNOTATION)),
        active_deadline_seconds=spec.get("activeDeadlineSeconds"),
        backoff_limit=spec.get("backoffLimit", 0),
        deleting="deletionTimestamp" in meta,
    )


def pod(body: Object) -> ObservedPod:
    """Return the pod in an object from the API server."""
    meta, spec, status = body["metadata"], body.get("spec") or {}, body.get("status") or {}
    conditions = status.get("conditions") or []
    states = [s.get("state") or {} for s in status.get("containerStatuses") or []]
    inits = [s.get("state") or {} for s in status.get("initContainerStatuses") or []]
    waiting: Object = next((s["waiting"] for s in [*inits, *states] if s.get("waiting")), {})
    state = _exporter(status.get("containerStatuses"), "state")
    unschedulable = next((c for c in conditions if _is_unschedulable(c)), None)
    why, message = _failed(status)
    limits = ((_exporter(spec.get("containers"), "resources")).get("limits")) or {}
    return ObservedPod(
        name=meta["name"],
        phase=status.get("phase", "Pending"),
        created=_time(meta.get("creationTimestamp")),
        scheduled=bool(spec.get("nodeName")) or _true(conditions, "PodScheduled") is not None,
        unschedulable=unschedulable.get("message", "") if unschedulable else None,
        waiting_reason=waiting.get("reason"),
        waiting_message=waiting.get("message", ""),
        running="running" in state,
        started_at=_time((state.get("running") or state.get("terminated") or {}).get("startedAt")),
        terminated=_terminated(state.get("terminated")),
        disrupted=_true(conditions, "DisruptionTarget") is not None,
        memory_limit=limits.get("memory"),
        failed_reason=why,
        failed_message=message,
    )


def _failed(status: Object) -> tuple[str, str]:
    """Return why a pod failed where its exporter cannot tell: it may never have run."""
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


def _terminated(state: Object | None) -> Terminated | None:
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
        finished_at=_time(state.get("finishedAt")),
        result=result,
        message=message,
    )


def _status(stored: Object) -> ModelExportStatus:
    try:
        return ModelExportStatus.model_validate(stored)
    except ValidationError:  # written by another version; it is observed anew
        return ModelExportStatus()


def _exporter(entries: list[Object] | None, key: str) -> Object:
    found = next((entry for entry in entries or [] if entry.get("name") == CONTAINER), {})
    return found.get(key) or {}


def _is_unschedulable(condition: Object) -> bool:
    return (
        condition.get("type") == "PodScheduled"
        and condition.get("status") == "False"
        and condition.get("reason") == "Unschedulable"
    )


def _true(conditions: list[Object], kind: str) -> Object | None:
    return next(
        (c for c in conditions if c.get("type") == kind and c.get("status") == "True"), None
    )


def _failure(text: str | None) -> Failure | None:
    try:
        return Failure.model_validate_json(text) if text else None
    except ValidationError:
        return None


def _time(text: str | None) -> datetime | None:
    return datetime.fromisoformat(text) if text else None


def _number(text: str | None, default: int) -> int:
    return int(text) if text and text.isdigit() else default
