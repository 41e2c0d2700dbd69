"""The next step for one ModelExport: a pure function of the observation.

This file has the order of the policies, each of which has its own file; all other code fetches,
writes or schedules.

- Once Complete or Failed is stored, the export has finished: nothing is created again, even if
  `suspend` changes. A Job that still exists is deleted, and later the export (`ttl`).
- Without a Job, create it, also if a person deleted it (publishing is idempotent: a pod finds the
  manifest of a finished run and reports its result), unless the export is suspended.
- A Job that ended without a readable result runs once more, under a second name.
- A Job that Kubernetes would retry or keep waiting without a chance of success is stopped.
"""

from __future__ import annotations

from datetime import datetime, timedelta

from modelexport_api.conditions import ENDS_OF, NOT_REQUESTED, find_condition
from modelexport_api.pod import PodResult
from modelexport_api.reasons import Reason
from modelexport_api.status import ConditionType, Failure, ModelExportStatus, new_failure
from modelexport_api.waits import Wait
from modelexport_operator import (
    batch,
    deadlines,
    delays,
    failures,
    kueue,
    pods,
    retries,
    status,
    suspension,
    ttl,
    workloads,
)
from modelexport_operator.decisions import (
    Acknowledge,
    CreateJob,
    Decision,
    DeleteExport,
    DeleteJob,
    Event,
    StopJob,
)
from modelexport_operator.job import JobError, build
from modelexport_operator.observe import Observation, ObservedJob
from modelexport_operator.settings import Settings

LAST_RUN = 2
_ANNOUNCED = {ConditionType.SCHEDULED, *ENDS_OF}
"""The conditions that say why an export waits; others repeat them for tools."""
_SOON = timedelta(seconds=2)
_LATE = timedelta(seconds=60)
_RUNNING = timedelta(seconds=120)
"""Interval at which a running pod is read, in case the event of its end was lost."""


def decide(seen: Observation, now: datetime, settings: Settings) -> Decision:
    """Return the next step."""
    if seen.resource.deleting:
        return Decision()
    if seen.resource.terminal:
        return _clean_up(seen, now)
    if seen.job_rejection is not None:
        return _fail(seen, failures.failure_of_rejected_job(seen.job_rejection), now)
    if seen.job_delay is not None:
        return delays.decide(seen, seen.job_delay, now)
    return suspension.decide(seen, now) or _continue(seen, now, settings)


def _continue(seen: Observation, now: datetime, settings: Settings) -> Decision:
    if seen.job is None:
        return _create(seen, now, settings, run=1)
    if seen.job.finished:
        return _evaluate(seen, seen.job, now, settings)
    if seen.job.deleting:
        return Decision(requeue_after=_SOON)
    return _follow(seen, seen.job, now, settings)


def _clean_up(seen: Observation, now: datetime) -> Decision:
    resource, job = seen.resource, seen.job
    if job is not None and not job.finished and not job.deleting:
        return Decision(action=DeleteJob(job))
    remaining = ttl.remaining(resource, now)
    if remaining is not None and not remaining:
        return Decision(action=DeleteExport(resource))
    if resource.generation != (resource.status.observed_generation or resource.generation):
        return Decision(action=Acknowledge(resource))
    return Decision(requeue_after=remaining)


def _create(seen: Observation, now: datetime, settings: Settings, run: int) -> Decision:
    export = seen.resource.export
    if export is None:
        return _invalid(seen, seen.resource.error or "the manifest cannot be read", now)
    try:
        manifest = build(export, settings, run)
    except JobError as error:
        return _invalid(seen, str(error), now)
    return Decision(action=CreateJob(manifest), events=_recreation_events(seen))


def _evaluate(seen: Observation, job: ObservedJob, now: datetime, settings: Settings) -> Decision:
    if batch.is_finished(job):
        return _evaluate_batch(seen, job, now, settings)
    result = _result(seen)
    if job.complete and result is not None and result.outcome == "Succeeded":
        return _finish(status.build_succeeded(seen, result, now))
    failure = result.failure if job.complete and result else None
    failure = failure or (failures.failure_of_finished_job(seen, job) if not job.complete else None)
    if failure is not None:
        return _fail(seen, failure, now)
    return _run_again(seen, job, now, settings)


def _evaluate_batch(
    seen: Observation, job: ObservedJob, now: datetime, settings: Settings
) -> Decision:
    if batch.is_result_lost(seen, job):
        return _run_again(seen, job, now, settings)
    result = batch.evaluate(seen, job)
    if result is not None:
        return _finish(batch.final_status(seen, result, now))
    failure = failures.failure_of_finished_job(seen, job)  # before any pod listed the checkpoints
    if failure is not None:
        return _fail(seen, failure, now)
    return _run_again(seen, job, now, settings)


def _run_again(seen: Observation, job: ObservedJob, now: datetime, settings: Settings) -> Decision:
    if seen.resource.suspend:
        return suspension.hold(seen, now)
    if job.run < LAST_RUN and seen.resource.export is not None:
        return _create(seen, now, settings, run=job.run + 1)
    return _fail(seen, failures.failure_of_lost_result(job), now)


def _follow(seen: Observation, job: ObservedJob, now: datetime, settings: Settings) -> Decision:
    late = deadlines.check_pending_deadline(seen, now)
    if late is not None:
        return _fail(seen, late, now)
    grace = timedelta(seconds=settings.pod_start_grace_seconds)
    failure = None if job.suspended else failures.reason_to_stop(seen, now, grace)
    if failure is not None and job.stopped is None:
        return Decision(action=StopJob(job, failure))
    if job.suspended and job.stopped is not None:
        return _fail(seen, job.stopped, now)  # a suspended Job would never reach its deadline
    active = status.build_active(seen, now)
    events = (*_condition_events(seen, active), *retries.events(retries.latest(seen)))
    due = _next_check(seen, job, now, settings)
    return Decision(status=active, events=events, requeue_after=due)


def _next_check(
    seen: Observation, job: ObservedJob, now: datetime, settings: Settings
) -> timedelta | None:
    """Return when to check again if no event arrives: often at first, then rarely.

    A Job in a queue is not checked, because its watch reports the admission; only Kueue's words
    about it may have changed.
    """
    until = deadlines.pending_deadline(seen)
    checks = [until - now] if until is not None else []
    pod = pods.current(seen.pods)
    if pod is not None and pod.running:
        checks.append(_RUNNING)
    elif not job.suspended:
        age = now - job.admitted if job.admitted else timedelta()
        checks.append(max(_SOON, min(_LATE, age / 4)))
    elif job.queue is not None:
        scheduled = find_condition(seen.resource.status.conditions, ConditionType.SCHEDULED)
        since = scheduled.last_transition_time if scheduled is not None else None
        read = workloads.next_read(since, now, settings.kueue)
        checks.extend([read] if read is not None else [])
    return min(checks, default=None)


def _fail(seen: Observation, failure: Failure, now: datetime) -> Decision:
    result = _result(seen)
    own = result is not None and (
        result.failure == failure or failure.reason == Reason.RETRIES_EXHAUSTED
    )
    failed = status.build_failed(seen, failure, result if own else None, now)
    return _finish(batch.with_items(failed, seen))


def _finish(final: ModelExportStatus) -> Decision:
    failure = final.failure
    if failure is None:
        event = Event("Normal", "Complete", final.conditions[-1].message, "end")
    else:
        hint = f" ({failure.hint})" if failure.hint else ""
        event = Event("Warning", failure.reason, f"{failure.message}{hint}", "end")
    return Decision(status=final, events=(event,))


def _invalid(seen: Observation, message: str, now: datetime) -> Decision:
    hint = "create a new ModelExport; `kubectl explain modelexport.spec` describes all fields"
    return _fail(seen, new_failure(Reason.INVALID_MANIFEST, message, hint), now)


def _result(seen: Observation) -> PodResult | None:
    """Return the result of the last pod that wrote one; a success takes precedence."""
    ends = [pod.terminated for pod in seen.pods if pod.terminated and pod.terminated.result]
    ends.sort(key=lambda end: (end.exit_code == 0, str(end.finished_at or "")))
    return ends[-1].result if ends else None


def _recreation_events(seen: Observation) -> tuple[Event, ...]:
    """Return the Event that explains why a Job is created again; the first is in the status."""
    if seen.job is not None:
        message = f"no result of Job {seen.job.name} could be read; the Job runs again"
        return (Event("Warning", Reason.RESULT_LOST, message, seen.job.uid),)
    name = seen.resource.status.job_name
    if name is not None:
        message = f"Job {name} was deleted before the export finished; the Job is created again"
        return (Event("Warning", Reason.JOB_DELETED, message, seen.resource.resource_version),)
    return suspension.resume_events(seen)


def _condition_events(seen: Observation, now: ModelExportStatus) -> tuple[Event, ...]:
    """Return an Event for each new reason why the Job waits."""
    before = {c.type: c for c in seen.resource.status.conditions}
    key = seen.job.uid if seen.job else ""
    events = []
    for entry in now.conditions:
        stored = before.get(entry.type)
        if entry.type not in _ANNOUNCED:
            continue
        waits = entry.status == "False" or entry.reason == Wait.POD_NOT_STARTED
        if not waits or entry.reason == NOT_REQUESTED:
            continue
        if stored is not None and (stored.status, stored.reason) == (entry.status, entry.reason):
            continue
        kind = "Normal" if entry.reason in kueue.NORMAL else "Warning"
        in_queue = entry.reason in kueue.REASONS  # repeated after each eviction
        since = f"/{entry.last_transition_time.isoformat()}" if in_queue else ""
        events.append(Event(kind, entry.reason, entry.message, f"{key}{since}"))
    return tuple(events)
