"""Observed objects as frozen values: the only input of every decision.

Parsing is lenient for objects that others write (a missing field is empty) and strict for fields
that decisions depend on (conditions, exit codes).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from pydantic import ValidationError

from modelexport_api.resource import ManifestError, ModelExport, parse
from modelexport_api.status import ConditionType, Failure, ModelExportStatus
from modelexport_operator import clock, names
from modelexport_operator.kueue import ObservedWorkload
from modelexport_operator.pods import ObservedPod
from modelexport_operator.rejections import Rejection

Object = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ObservedResource:
    """A ModelExport: its spec and its stored status."""

    namespace: str
    name: str
    uid: str
    generation: int
    resource_version: str
    export: ModelExport | None
    """None after the end, when nothing depends on it, and if there is an error."""
    error: str | None
    """Why this version of the operator cannot read the spec, if it cannot."""
    status: ModelExportStatus
    terminal: bool
    deleting: bool
    suspend: bool
    ttl_seconds: int | None
    ended_at: datetime | None
    """When the condition Complete or Failed was stored."""
    created: datetime | None = None


@dataclass(frozen=True, slots=True)
class ObservedJob:
    """A Job of the operator."""

    namespace: str
    name: str
    uid: str
    owner_uid: str
    resource_version: str
    run: int
    created: datetime | None
    admitted: datetime | None
    """When it could start pods: after its creation, or when its queue admitted it."""
    succeeded: int
    failed: int
    complete: bool
    failed_reason: str | None
    finished_at: datetime | None
    stopped: Failure | None
    active_deadline_seconds: int | None
    backoff_limit: int
    """In an Indexed Job: the limit of each index."""
    deleting: bool
    suspended: bool
    """Suspended by a queue controller, before admission or after eviction; never by us."""
    queue: str | None
    shares: int | None
    """Number of indexes of an Indexed Job: the shares of a batch. None if it is not a batch."""
    completed_indexes: str
    failed_indexes: str

    @property
    def finished(self) -> bool:
        """Return whether the Job has ended and none of its pods is running."""
        return self.complete or self.failed_reason is not None


@dataclass(frozen=True, slots=True)
class Observation:
    """The input of a decision."""

    resource: ObservedResource
    job: ObservedJob | None = None
    pods: tuple[ObservedPod, ...] = ()
    job_rejection: str | None = None
    """The API server's message when it rejected the Job permanently."""
    job_delay: Rejection | None = None
    """The API server's answer when it could not create the Job for a passing reason."""
    pod_rejection: Rejection | None = None
    """The API server's answer when the Job controller could not create the pod."""
    workload: ObservedWorkload | None = None
    """Of a Job in a queue: Kueue's Workload, if it was read now."""


def resource(body: Object) -> ObservedResource:
    """Return the ModelExport in an object from the API server."""
    meta = body.get("metadata") or {}
    spec, stored = body.get("spec") or {}, body.get("status") or {}
    ended = _end_condition(body)
    export, error = _read(body) if ended is None else (None, None)
    return ObservedResource(
        namespace=meta.get("namespace", ""),
        name=meta.get("name", ""),
        uid=meta.get("uid", ""),
        generation=meta.get("generation", 1),
        resource_version=meta.get("resourceVersion", ""),
        export=export,
        error=error,
        status=_status(stored),
        terminal=ended is not None,
        deleting="deletionTimestamp" in meta,
        suspend=spec.get("suspend") is True,
        ttl_seconds=spec.get("ttlSecondsAfterFinished"),
        ended_at=clock.parse(ended.get("lastTransitionTime")) if ended else None,
        created=clock.parse(meta.get("creationTimestamp")),
    )


def _read(body: Object) -> tuple[ModelExport | None, str | None]:
    try:
        return parse(dict(body)), None
    except ManifestError as error:
        return None, str(error)


def is_terminal(body: Object) -> bool:
    """Return whether Complete or Failed is stored; ignores the rest of the status."""
    return _end_condition(body) is not None


def job(body: Object) -> ObservedJob:
    """Return the Job in an object from the API server."""
    meta, spec, status = body["metadata"], body.get("spec") or {}, body.get("status") or {}
    annotations = meta.get("annotations") or {}
    conditions = status.get("conditions") or []
    complete, failed = _find_true(conditions, "Complete"), _find_true(conditions, "Failed")
    owners = [o for o in meta.get("ownerReferences") or [] if o.get("controller")]
    ended = complete or failed
    return ObservedJob(
        namespace=meta["namespace"],
        name=meta["name"],
        uid=meta["uid"],
        owner_uid=owners[0]["uid"] if owners else "",
        resource_version=meta.get("resourceVersion", ""),
        run=_number(annotations.get(names.RUN_ANNOTATION), 1),
        created=clock.parse(meta.get("creationTimestamp")),
        admitted=clock.parse(status.get("startTime") or meta.get("creationTimestamp")),
        succeeded=status.get("succeeded") or 0,
        failed=status.get("failed") or 0,
        complete=complete is not None,
        failed_reason=failed.get("reason", "Failed") if failed else None,
        finished_at=clock.parse(ended.get("lastTransitionTime")) if ended else None,
        stopped=_failure(annotations.get(names.FAILURE_ANNOTATION)),
        active_deadline_seconds=spec.get("activeDeadlineSeconds"),
        backoff_limit=spec.get("backoffLimitPerIndex", spec.get("backoffLimit", 0)),
        deleting="deletionTimestamp" in meta,
        suspended=spec.get("suspend") is True,
        queue=(meta.get("labels") or {}).get(names.QUEUE_LABEL),
        shares=spec.get("completions") if spec.get("completionMode") == "Indexed" else None,
        completed_indexes=status.get("completedIndexes", ""),
        failed_indexes=status.get("failedIndexes", ""),
    )


def _end_condition(body: Object) -> Object | None:
    """Return the condition that ended a ModelExport."""
    conditions = (body.get("status") or {}).get("conditions") or []
    return _find_true(conditions, ConditionType.COMPLETE) or _find_true(
        conditions, ConditionType.FAILED
    )


def _status(stored: Object) -> ModelExportStatus:
    try:
        return ModelExportStatus.model_validate(stored)
    except ValidationError:  # written by another version; it is replaced
        return ModelExportStatus()


def _find_true(conditions: list[Object], kind: str) -> Object | None:
    return next(
        (c for c in conditions if c.get("type") == kind and c.get("status") == "True"), None
    )


def _failure(text: str | None) -> Failure | None:
    try:
        return Failure.model_validate_json(text) if text else None
    except ValidationError:
        return None


def _number(text: str | None, default: int) -> int:
    return int(text) if text and text.isdigit() else default
