"""Carry out decisions. Every write may be repeated, and may be out of date when it arrives.

The answer of the API server becomes an observation: a Job that already exists is identified by
its owner, a permanent rejection is input for the next decision, and any other error is an
`ApiError`, after which the key is retried. A Job that cannot be created now is an observation, too:
users see why nothing happens.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Protocol

from modelexport_api.status import ModelExportStatus
from modelexport_operator import failures, names, observe, status
from modelexport_operator.decisions import (
    Acknowledge,
    Action,
    CreateJob,
    DeleteExport,
    DeleteJob,
    StopJob,
)
from modelexport_operator.observe import Observation, ObservedJob, ObservedResource
from modelexport_operator.rejections import Cause, Rejection
from modelexport_operator.transport import NOT_FOUND, ApiError

_MALFORMED = {400, 422}
_FORBIDDEN = 403

Body = dict[str, Any]


class WriteApi(Protocol):
    """The part of the API that actions need."""

    async def create_job(self, manifest: Body) -> Body:
        """Create a Job."""

    async def get_job(self, namespace: str, name: str) -> Body:
        """Read a Job."""

    async def patch_job(self, namespace: str, name: str, patch: Body) -> Body:
        """Merge-patch a Job."""

    async def delete_job(self, namespace: str, name: str, preconditions: Body) -> Body:
        """Delete the pods of a Job, then the Job."""

    async def delete_export(self, namespace: str, name: str, preconditions: Body) -> None:
        """Delete a ModelExport."""

    async def apply_status(
        self, metadata: Body, status: Body, manager: str, *, force: bool
    ) -> Body:
        """Server-side apply fields of a status."""


@dataclass(frozen=True)
class ActionResult:
    """The observation after an action, and the objects that the API server returned."""

    seen: Observation
    job: Body | None = None
    resource: Body | None = None


async def act(api: WriteApi, action: Action, seen: Observation) -> ActionResult:
    """Carry out an action."""
    match action:
        case CreateJob():
            return await create(api, action, seen)
        case StopJob():
            return await stop(api, action, seen)
        case DeleteJob(job):
            return ActionResult(replace(seen, job=await delete(api, job)))
        case DeleteExport(resource):
            expected = {"uid": resource.uid, "resourceVersion": resource.resource_version}
            await api.delete_export(resource.namespace, resource.name, expected)
            return ActionResult(replace(seen, resource=replace(resource, deleting=True)))
        case Acknowledge(resource):
            body = await acknowledge(api, resource)
            return ActionResult(replace(seen, resource=observe.resource(body)), resource=body)


async def create(api: WriteApi, action: CreateJob, seen: Observation) -> ActionResult:
    """Create the Job, or adopt it if it already exists."""
    meta = action.manifest["metadata"]
    try:
        body = await api.create_job(action.manifest)
    except ApiError as error:
        if error.reason == "AlreadyExists":
            return await _adopt(api, seen, meta["namespace"], meta["name"])
        if is_final(error):
            return ActionResult(replace(seen, job_rejection=error.message))
        if error.status == NOT_FOUND:  # the namespace, and with it the ModelExport, was deleted
            raise
        return ActionResult(replace(seen, job_delay=Rejection(error.message, error.cause)))
    return ActionResult(replace(seen, job=observe.job(body), pods=(), pod_rejection=None), body)


async def stop(api: WriteApi, action: StopJob, seen: Observation) -> ActionResult:
    """End the Job: Kubernetes deletes its pods and creates no more.

    Both limits are mutable while a Job runs; the same write stores the failure.
    """
    patch = {
        "metadata": {
            "uid": action.job.uid,
            "annotations": {
                names.FAILURE_ANNOTATION: action.failure.model_dump_json(
                    by_alias=True, exclude_none=True
                )
            },
        },
        "spec": {"backoffLimit": 0, "activeDeadlineSeconds": 1},
    }
    body = await api.patch_job(action.job.namespace, action.job.name, patch)
    return ActionResult(replace(seen, job=observe.job(body)), body)


async def delete(api: WriteApi, job: ObservedJob) -> ObservedJob | None:
    """Delete this version of the Job; return it as it is then, or None if it did not exist."""
    expected = {"uid": job.uid, "resourceVersion": job.resource_version}
    try:
        await api.delete_job(job.namespace, job.name, expected)
    except ApiError as error:
        if error.status != NOT_FOUND:
            raise
        return None
    return replace(job, deleting=True)


async def acknowledge(api: WriteApi, resource: ObservedResource) -> Body:
    """Store the generation that was observed after the end, and nothing else.

    It has its own field manager, because the other fields belong to the manager of the end.
    """
    status = {"observedGeneration": resource.generation}
    return await api.apply_status(_identity(resource), status, names.SEEN_MANAGER, force=True)


async def write_status(
    api: WriteApi, resource: ObservedResource, wanted: ModelExportStatus
) -> Body | None:
    """Write the status if it differs; return the resource's object if it was written."""
    if same(resource.status, wanted):
        return None
    return await api.apply_status(
        _identity(resource), wanted.to_wire(), names.STATUS_MANAGER, force=True
    )


async def write_end(
    api: WriteApi, seen: Observation, wanted: ModelExportStatus, now: datetime
) -> tuple[ModelExportStatus, Body | None]:
    """Write a status and return what was written. A final status is written in any case.

    A final status contains the pod's result, which the checkpoint's own code may have written. If
    the schema rejects it (a number beyond 64 bits), every retry would fail, and the export would
    never finish; so a failure is written instead.
    """
    try:
        return wanted, await write_status(api, seen.resource, wanted)
    except ApiError as error:
        if error.status not in _MALFORMED or wanted.completion_time is None:
            raise
        failure = failures.failure_of_rejected_result(error.message)
    failed = status.build_failed(seen, failure, None, now)
    return failed, await write_status(api, seen.resource, failed)


def same(stored: ModelExportStatus, wanted: ModelExportStatus) -> bool:
    """Return whether the stored status equals the wanted one, except fields of other writers."""
    return _comparable(stored, wanted) == _comparable(wanted, wanted)


def is_final(error: ApiError) -> bool:
    """Return whether the API server would reject every retry of the request."""
    if error.status == _FORBIDDEN:
        return error.cause is Cause.OTHER
    return error.status in _MALFORMED


def _identity(resource: ObservedResource) -> Body:
    return {
        "namespace": resource.namespace,
        "name": resource.name,
        "uid": resource.uid,
        "resourceVersion": resource.resource_version,
    }


async def _adopt(api: WriteApi, seen: Observation, namespace: str, name: str) -> ActionResult:
    body = await api.get_job(namespace, name)
    job = observe.job(body)
    if job.owner_uid != seen.resource.uid:
        rejection = f"a Job named {name} exists and does not belong to this ModelExport; delete it"
        return ActionResult(replace(seen, job_rejection=rejection))
    return ActionResult(replace(seen, job=job, pods=()), body)


def _comparable(status: ModelExportStatus, wanted: ModelExportStatus) -> Body:
    wire = status.to_wire()
    for key in ("progress", "items"):
        if getattr(wanted, key) is None:
            wire.pop(key, None)
    wire["conditions"] = sorted(wire.get("conditions", []), key=lambda entry: str(entry["type"]))
    return wire
