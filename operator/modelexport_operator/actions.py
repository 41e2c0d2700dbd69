"""Carry out what was decided. Every write may be repeated, and may come too late.

What the API server answers becomes an observation: a Job that exists already is ours by its
owner, a refusal that will not change by itself is a fact to decide on, anything else is an
`ApiError`, and the key comes back later.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Protocol

from modelexport_api.status import ModelExportStatus
from modelexport_operator import failures, names, observe, status
from modelexport_operator.client import NOT_FOUND, ApiError
from modelexport_operator.decisions import (
    Acknowledge,
    Action,
    CreateJob,
    DeleteExport,
    DeleteJob,
    StopJob,
)
from modelexport_operator.observe import Observation, ObservedJob, ObservedResource

_MALFORMED = {400, 422}
_FORBIDDEN = 403
_PASSING = ("exceeded quota", "being terminated", "cannot create resource")
"""Refusals that end by themselves, or when the operator's own rights are put right."""

Body = dict[str, Any]


class Writes(Protocol):
    """The part of the API that actions need."""

    async def create_job(self, manifest: Body) -> Body:
        """Create a Job."""

    async def get_job(self, namespace: str, name: str) -> Body:
        """Read a Job."""

    async def patch_job(self, namespace: str, name: str, patch: Body) -> Body:
        """Merge-patch a Job."""

    async def delete_job(self, namespace: str, name: str, preconditions: Body) -> Body:
        """Delete a Job, and then it."""

    async def delete_export(self, namespace: str, name: str, preconditions: Body) -> None:
        """Delete a ModelExport."""

    async def apply_status(
        self, metadata: Body, status: Body, manager: str, *, force: bool
    ) -> Body:
        """Server-side apply fields of a status."""


@dataclass(frozen=True)
class Done:
    """What is known after an action, and the objects that the API server answered with."""

    seen: Observation
    job: Body | None = None
    resource: Body | None = None


async def act(api: Writes, action: Action, seen: Observation) -> Done:
    """Carry out an action."""
    match action:
        case CreateJob():
            return await create(api, action, seen)
        case StopJob():
            return await stop(api, action, seen)
        case DeleteJob(job):
            return Done(replace(seen, job=await delete(api, job)))
        case DeleteExport(resource):
            expected = {"uid": resource.uid, "resourceVersion": resource.resource_version}
            await api.delete_export(resource.namespace, resource.name, expected)
            return Done(replace(seen, resource=replace(resource, deleting=True)))
        case Acknowledge(resource):
            body = await acknowledge(api, resource)
            return Done(replace(seen, resource=observe.resource(body)), resource=body)


async def create(api: Writes, action: CreateJob, seen: Observation) -> Done:
    """Create the Job, or find that it was created already."""
    meta = action.manifest["metadata"]
    try:
        body = await api.create_job(action.manifest)
    except ApiError as error:
        if error.reason == "AlreadyExists":
            return await _adopt(api, seen, meta["namespace"], meta["name"])
        if is_final(error):
            return Done(replace(seen, job_refused=error.message))
        raise
    return Done(replace(seen, job=observe.job(body), pods=(), pod_refused=None), body)


async def stop(api: Writes, action: StopJob, seen: Observation) -> Done:
    """End the Job: no further pod, and one that runs or waits is deleted.

    Both limits can be changed while a Job runs; the reason goes with them, in the same write.
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
    return Done(replace(seen, job=observe.job(body)), body)


async def delete(api: Writes, job: ObservedJob) -> ObservedJob | None:
    """Delete the Job as it was seen; return it as it is then, None when it was gone already."""
    expected = {"uid": job.uid, "resourceVersion": job.resource_version}
    try:
        await api.delete_job(job.namespace, job.name, expected)
    except ApiError as error:
        if error.status != NOT_FOUND:
            raise
        return None
    return replace(job, deleting=True)


async def acknowledge(api: Writes, resource: ObservedResource) -> Body:
    """Store which generation was seen after the end, and nothing else.

    By a field manager of its own: the status as a whole belongs to the one that wrote the end.
    """
    status = {"observedGeneration": resource.generation}
    return await api.apply_status(_identity(resource), status, names.SEEN_MANAGER, force=True)


async def write_status(
    api: Writes, resource: ObservedResource, wanted: ModelExportStatus
) -> Body | None:
    """Write the status if it says anything new; return the resource's object if it was written."""
    if same(resource.status, wanted):
        return None
    return await api.apply_status(
        _identity(resource), wanted.to_wire(), names.STATUS_MANAGER, force=True
    )


async def write_end(
    api: Writes, seen: Observation, wanted: ModelExportStatus, now: datetime
) -> tuple[ModelExportStatus, Body | None]:
    """Write a status; return what was written. An end is written in any case.

    An end holds what the pod said, and a checkpoint's own code may have said it. What the schema
    refuses (a number beyond 64 bits) it would refuse for ever, and the export would never end.
    """
    try:
        return wanted, await write_status(api, seen.resource, wanted)
    except ApiError as error:
        if error.status not in _MALFORMED or wanted.completion_time is None:
            raise
        why = failures.refused_result(error.message)
    ended = status.failed(seen, why, None, now)
    return ended, await write_status(api, seen.resource, ended)


def same(stored: ModelExportStatus, wanted: ModelExportStatus) -> bool:
    """Tell whether the stored status says what is wanted; some of it may have another writer."""
    return _comparable(stored, wanted) == _comparable(wanted, wanted)


def is_final(error: ApiError) -> bool:
    """Tell whether the same request would be refused again and again."""
    if error.status == _FORBIDDEN:
        return not any(passing in error.message for passing in _PASSING)
    return error.status in _MALFORMED


def _identity(resource: ObservedResource) -> Body:
    return {
        "namespace": resource.namespace,
        "name": resource.name,
        "uid": resource.uid,
        "resourceVersion": resource.resource_version,
    }


async def _adopt(api: Writes, seen: Observation, namespace: str, name: str) -> Done:
    body = await api.get_job(namespace, name)
    job = observe.job(body)
    if job.owner_uid != seen.resource.uid:
        refusal = f"a Job named {name} exists and does not belong to this ModelExport; delete it"
        return Done(replace(seen, job_refused=refusal))
    return Done(replace(seen, job=job, pods=()), body)


def _comparable(status: ModelExportStatus, wanted: ModelExportStatus) -> Body:
    wire = status.to_wire()
    for key in ("progress", "items"):
        if getattr(wanted, key) is None:
            wire.pop(key, None)
    wire["conditions"] = sorted(wire.get("conditions", []), key=lambda entry: str(entry["type"]))
    return wire
