"""Two limits of time: for a pod to start at all, and for the work.

`activeDeadlineSeconds` is kept by Kubernetes: the Job's own deadline counts from its start, anew
whenever its queue lets it start again. `pendingDeadlineSeconds` is kept here, since Kubernetes
waits for ever: it counts from the Job's creation until the first pod has started, be it for want
of a node, of quota in a queue, or of a right. Time suspended does not count, because a suspended
export has no Job; an export that had begun and was evicted has started, and waits.
"""

from __future__ import annotations

from datetime import datetime, timedelta

from modelexport_api.reasons import Reason
from modelexport_api.status import ConditionType, Failure
from modelexport_operator.facts import condition, failure
from modelexport_operator.observe import Observation, ObservedJob


def pending_until(seen: Observation) -> datetime | None:
    """Return when a Job that has not started fails; None when it may wait for ever."""
    export, job = seen.resource.export, seen.job
    limit = export.spec.pending_deadline_seconds if export else None
    if limit is None or job is None or job.created is None or _has_started(seen, job):
        return None
    return job.created + timedelta(seconds=limit)


def pending_exceeded(seen: Observation, now: datetime) -> Failure | None:
    """Return the failure of a Job whose first pod did not start in time."""
    until, export = pending_until(seen), seen.resource.export
    if until is None or export is None or now < until:
        return None
    scheduled = condition(seen.resource.status, ConditionType.SCHEDULED)
    told = scheduled.message if scheduled is not None else ""
    return failure(
        Reason.PENDING_DEADLINE_EXCEEDED,
        "no pod has started within spec.pendingDeadlineSeconds "
        f"({export.spec.pending_deadline_seconds} s): {told or 'none was scheduled'}",
        "free what it waits for (a node with such a GPU, quota in its queue), ask for less in "
        "spec.podTemplate, or raise spec.pendingDeadlineSeconds in a new ModelExport",
    )


def active_exceeded(seen: Observation, job: ObservedJob) -> Failure:
    """Return the failure of a Job that Kubernetes ended at its deadline."""
    status = seen.resource.status
    scheduled = condition(status, ConditionType.SCHEDULED)
    if scheduled is not None and scheduled.status == "False":
        doing = f"no pod could be scheduled: {scheduled.message}"
    elif status.progress is not None:
        doing = f"it was at {status.progress.stage}, {status.progress.percent} %"
    else:
        doing = "it had not reported any progress"
    return failure(
        Reason.DEADLINE_EXCEEDED,
        f"not done after spec.activeDeadlineSeconds ({job.active_deadline_seconds} s); {doing}",
        "raise spec.activeDeadlineSeconds, or give the pod more CPUs, a GPU or a faster store",
        stage=status.progress.stage if status.progress else None,
    )


def _has_started(seen: Observation, job: ObservedJob) -> bool:
    return (
        seen.resource.status.start_time is not None
        or job.failed + job.succeeded > 0
        or any(pod.started_at is not None for pod in seen.pods)
    )
