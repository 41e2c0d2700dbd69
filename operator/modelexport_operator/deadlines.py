"""Two deadlines: one for the first pod to start, and one for the work.

Kubernetes enforces `activeDeadlineSeconds`: it counts from the start of the Job, again each time
its queue starts it, and also while no pod has started: then the status states when it ends. This
module enforces `pendingDeadlineSeconds`, because Kubernetes waits
without limit: it counts from the creation of the Job until the first pod has started, whatever is
missing (a node, queue quota, a permission). Time in suspension does not count, because a suspended
export has no Job. An export that was evicted after its start has started, and waits.
"""

from __future__ import annotations

from datetime import datetime, timedelta

from modelexport_api.conditions import find_condition
from modelexport_api.reasons import Reason
from modelexport_api.status import ConditionType, Failure, new_failure
from modelexport_operator.observe import Observation, ObservedJob


def pending_deadline(seen: Observation) -> datetime | None:
    """Return when a Job that has not started fails; None if there is no limit."""
    export, job = seen.resource.export, seen.job
    limit = export.spec.pending_deadline_seconds if export else None
    if limit is None or job is None or job.created is None or _has_started(seen, job):
        return None
    return job.created + timedelta(seconds=limit)


def check_pending_deadline(seen: Observation, now: datetime) -> Failure | None:
    """Return a failure if the Job's first pod has not started in time."""
    until, export = pending_deadline(seen), seen.resource.export
    if until is None or export is None or now < until:
        return None
    scheduled = find_condition(seen.resource.status.conditions, ConditionType.SCHEDULED)
    why = scheduled.message if scheduled is not None else ""
    return new_failure(
        Reason.PENDING_DEADLINE_EXCEEDED,
        "no pod started within spec.pendingDeadlineSeconds "
        f"({export.spec.pending_deadline_seconds} s): {why or 'no pod was scheduled'}",
        "free the missing resource (a node with such a GPU, queue quota), request less in "
        "spec.podTemplate, or increase spec.pendingDeadlineSeconds in a new ModelExport",
    )


def describe_active_deadline(job: ObservedJob) -> str:
    """Return when Kubernetes ends a Job whose pod has not started."""
    if job.active_deadline_seconds is None or job.admitted is None:
        return ""
    limit = job.active_deadline_seconds
    end = (job.admitted + timedelta(seconds=limit)).isoformat().replace("+00:00", "Z")
    return (
        f"spec.activeDeadlineSeconds ({limit} s) counts although no pod has started: Kubernetes "
        f"ends the Job at {end}"
    )


def failure_of_active_deadline(seen: Observation, job: ObservedJob) -> Failure:
    """Return the failure of a Job that Kubernetes stopped at its deadline."""
    status = seen.resource.status
    scheduled = find_condition(status.conditions, ConditionType.SCHEDULED)
    if scheduled is not None and scheduled.status == "False":
        state = f"no pod could be scheduled: {scheduled.message}"
    elif status.progress is not None:
        state = f"stage {status.progress.stage}, {status.progress.percent} % done"
    elif status.start_time is None and not any(pod.started_at for pod in seen.pods):
        state = "no pod has started"
    else:
        state = "no progress was reported"
    return new_failure(
        Reason.DEADLINE_EXCEEDED,
        "the export did not finish within spec.activeDeadlineSeconds "
        f"({job.active_deadline_seconds} s): {state}",
        "increase spec.activeDeadlineSeconds, or give the pod more CPUs, a GPU or a faster store",
        stage=status.progress.stage if status.progress else None,
    )


def _has_started(seen: Observation, job: ObservedJob) -> bool:
    return (
        seen.resource.status.start_time is not None
        or job.failed + job.succeeded > 0
        or any(pod.started_at is not None for pod in seen.pods)
    )
