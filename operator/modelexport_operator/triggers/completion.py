"""Whether and when an object succeeded, by the status that the controller of its kind writes.

An object that failed, is running, waiting, suspended or restarting has not succeeded. A training
that was restarted and then succeeded has.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from modelexport_api.trigger import Success, SuccessCondition, SuccessField, TriggerSource
from modelexport_operator.triggers.jsonpath import parse

Body = Mapping[str, Any]
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True)
class Completion:
    """A success. `run` identifies the run, for objects that run repeatedly."""

    when: datetime
    run: str = ""


def find_completion(source: TriggerSource, body: Body) -> Completion | None:
    """Return the completion of an object of the source's kind, or None."""
    if source.success is not None:
        return _by_rule(source.success, body)
    return _WELL_KNOWN[source.kind](body)


def _by_rule(success: Success, body: Body) -> Completion | None:
    if success.condition is not None:
        return _condition(body, success.condition)
    return _field(body, success.field) if success.field is not None else None


def _condition(body: Body, wanted: SuccessCondition) -> Completion | None:
    conditions = _status(body).get("conditions")
    for entry in conditions if isinstance(conditions, list) else []:
        if not isinstance(entry, Mapping):
            continue
        if (entry.get("type"), entry.get("status")) == (wanted.type, wanted.status):
            return Completion(_time(entry.get("lastTransitionTime")) or _last_written(body))
    return None


def _field(body: Body, wanted: SuccessField) -> Completion | None:
    found = [_to_text(value) for value in parse(wanted.path).find(body)]
    return Completion(_last_written(body)) if found == [wanted.value] else None


def _finished_by(kind: str) -> Callable[[Body], Completion | None]:
    """Return the check for kinds with a condition for success and one for failure."""

    def find(body: Body) -> Completion | None:
        if _condition(body, SuccessCondition(type="Failed")) is not None:
            return None
        found = _condition(body, SuccessCondition(type=kind))
        if found is None:
            return None
        return Completion(_time(_status(body).get("completionTime")) or found.when)

    return find


def _ray_job(body: Body) -> Completion | None:
    """Check the status of Ray and of KubeRay, because KubeRay may retry a job that Ray ended.

    With a schedule, one RayJob runs repeatedly, each time with another job id.
    """
    status = _status(body)
    if (status.get("jobStatus"), status.get("jobDeploymentStatus")) != ("SUCCEEDED", "Complete"):
        return None
    run = str(status.get("jobId") or "") if (body.get("spec") or {}).get("schedule") else ""
    return Completion(_time(status.get("endTime")) or _last_written(body), run)


_WELL_KNOWN: dict[str, Callable[[Body], Completion | None]] = {
    "Job": _finished_by("Complete"),
    "TrainJob": _finished_by("Complete"),
    "PyTorchJob": _finished_by("Succeeded"),
    "RayJob": _ray_job,
    "JobSet": _finished_by("Completed"),
}


def _last_written(body: Body) -> datetime:
    """Return when the status was last written, for kinds without a completion time."""
    meta = body.get("metadata") or {}
    entries = meta.get("managedFields") or []
    by_status = [e for e in entries if "f:status" in (e.get("fieldsV1") or {})]
    times = [_time(entry.get("time")) for entry in by_status or entries]
    known = [time for time in times if time is not None]
    return max(known, default=None) or _time(meta.get("creationTimestamp")) or EPOCH


def _status(body: Body) -> Mapping[str, Any]:
    status = body.get("status")
    return status if isinstance(status, Mapping) else {}


def _time(text: object) -> datetime | None:
    """Return a time as written by Kubernetes, to the second; None if there is none."""
    if not isinstance(text, str):
        return None
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        return None
    aware = found if found.tzinfo else found.replace(tzinfo=UTC)
    return aware.astimezone(UTC).replace(microsecond=0)


def _to_text(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return str(value)
