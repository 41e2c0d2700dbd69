"""What to do about one ModelExport: a pure function of what was observed.

The order of the policies is here, each of them in a file of its own; everything else fetches,
writes or schedules.

- Complete or Failed once stored is the end: nothing is ever created again, also when somebody
  toggles `suspend` later. A Job that outlived the end is deleted, and at last the export (`ttl`).
- No Job and no end: create it, also when somebody deleted it (publishing is idempotent: a run
  that had finished is found by its manifest and answered at once), unless it is suspended.
- A Job that ended without a readable result is run once more, under a second name.
- What Kubernetes would retry or wait for in vain is stopped.
"""

from __future__ import annotations

from datetime import datetime, timedelta

from modelexport_api.conditions import NOT_REQUESTED
from modelexport_api.pod import PodResult
from modelexport_api.reasons import Reason
from modelexport_api.status import Failure, ModelExportStatus, Phase
from modelexport_operator import (
    batch,
    deadlines,
    failures,
    pods,
    retries,
    status,
    suspension,
    ttl,
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
from modelexport_operator.facts import failure
from modelexport_operator.job import JobError, build
from modelexport_operator.observe import Observation, ObservedJob
from modelexport_operator.settings import Settings

LAST_RUN = 2
_SOON = timedelta(seconds=2)
_LATE = timedelta(seconds=60)
_RUNNING = timedelta(seconds=120)
"""When to look at a pod that runs, in case its end was missed."""


def decide(seen: Observation, now: datetime, settings: Settings) -> Decision:
    """Return what to do now."""
    if seen.resource.deleting:
        return Decision()
    if seen.resource.terminal:
        return _after_the_end(seen, now)
    if seen.job_refused is not None:
        return _fail(seen, failures.refused_job(seen.job_refused), now)
    return suspension.decide(seen, now) or _go_on(seen, now, settings)


def _go_on(seen: Observation, now: datetime, settings: Settings) -> Decision:
    if seen.job is None:
        return _create(seen, now, settings, run=1)
    if seen.job.finished:
        return _finish(seen, seen.job, now, settings)
    if seen.job.deleting:
        return Decision(requeue_after=_SOON)
    return _follow(seen, seen.job, now, settings)


def _after_the_end(seen: Observation, now: datetime) -> Decision:
    resource, job = seen.resource, seen.job
    if job is not None and not job.finished and not job.deleting:
        return Decision(action=DeleteJob(job))
    left = ttl.left(resource, now)
    if left is not None and not left:
        return Decision(action=DeleteExport(resource))
    if resource.generation != (resource.status.observed_generation or resource.generation):
        return Decision(action=Acknowledge(resource))
    return Decision(requeue_after=left)


def _create(seen: Observation, now: datetime, settings: Settings, run: int) -> Decision:
    export = seen.resource.export
    if export is None:
        return _invalid(seen, seen.resource.error or "the manifest cannot be read", now)
    try:
        manifest = build(export, settings, run)
    except JobError as error:
        return _invalid(seen, str(error), now)
    name = manifest["metadata"]["name"]
    created = Event("Normal", "JobCreated", f"created Job {name}", f"{name}{_times(seen)}")
    return Decision(action=CreateJob(manifest), events=(*_why_again(seen), created))


def _finish(seen: Observation, job: ObservedJob, now: datetime, settings: Settings) -> Decision:
    if batch.is_tried(job):
        return _finish_batch(seen, job, now, settings)
    result = _result(seen)
    if job.complete and result is not None and result.outcome == "Succeeded":
        return _ended(status.succeeded(seen, result, now))
    why = result.failure if job.complete and result else None
    why = why or (failures.of_finished(seen, job) if not job.complete else None)
    return _fail(seen, why, now) if why is not None else _once_more(seen, job, now, settings)


def _finish_batch(
    seen: Observation, job: ObservedJob, now: datetime, settings: Settings
) -> Decision:
    if batch.is_result_lost(seen, job):
        return _once_more(seen, job, now, settings)
    tried = batch.judge(seen, job)
    if tried is not None:
        return _ended(batch.ended(seen, tried, now))
    why = failures.of_finished(seen, job)  # no pod came as far as the listing
    return _fail(seen, why, now) if why is not None else _once_more(seen, job, now, settings)


def _once_more(seen: Observation, job: ObservedJob, now: datetime, settings: Settings) -> Decision:
    if seen.resource.suspend:
        return suspension.hold(seen, now)
    if job.run < LAST_RUN and seen.resource.export is not None:
        return _create(seen, now, settings, run=job.run + 1)
    return _fail(seen, failures.result_lost(job), now)


def _follow(seen: Observation, job: ObservedJob, now: datetime, settings: Settings) -> Decision:
    late = deadlines.pending_exceeded(seen, now)
    if late is not None:
        return _fail(seen, late, now)
    grace = timedelta(seconds=settings.pod_start_grace_seconds)
    why = None if job.suspended else failures.reason_to_stop(seen, now, grace)
    if why is not None and job.stopped is None:
        return Decision(action=StopJob(job, why))
    if job.suspended and job.stopped is not None:
        return _fail(seen, job.stopped, now)  # its deadline does not count while it is held back
    now_status = status.active(seen, now)
    events = (*_trouble(seen, now_status), *retries.events(retries.latest(seen)))
    return Decision(status=now_status, events=events, requeue_after=_next_look(seen, job, now))


def _next_look(seen: Observation, job: ObservedJob, now: datetime) -> timedelta | None:
    """Return when to look again if nothing is heard: often at first, then rarely.

    Not at all at a Job in a queue: that it is admitted is told by its watch.
    """
    until = deadlines.pending_until(seen)
    looks = [until - now] if until is not None else []
    pod = pods.current(seen.pods)
    if pod is not None and pod.running:
        looks.append(_RUNNING)
    elif not job.suspended:
        age = now - job.admitted if job.admitted else timedelta()
        looks.append(max(_SOON, min(_LATE, age / 4)))
    return min(looks, default=None)


def _fail(seen: Observation, why: Failure, now: datetime) -> Decision:
    told = _result(seen)
    speaks = told is not None and (told.failure == why or why.reason == Reason.RETRIES_EXHAUSTED)
    ended = status.failed(seen, why, told if speaks else None, now)
    return _ended(batch.cut_short(ended, seen))


def _ended(final: ModelExportStatus) -> Decision:
    why = final.failure
    if why is None:
        told = Event("Normal", "Complete", final.conditions[-1].message, "end")
    else:
        hint = f" ({why.hint})" if why.hint else ""
        told = Event("Warning", why.reason, f"{why.message}{hint}", "end")
    return Decision(status=final, events=(told,))


def _invalid(seen: Observation, message: str, now: datetime) -> Decision:
    hint = "correct it in a new ModelExport; `kubectl explain modelexport.spec` has all fields"
    return _fail(seen, failure(Reason.INVALID_MANIFEST, message, hint), now)


def _result(seen: Observation) -> PodResult | None:
    """Return what the last pod that could speak said; a success goes before everything."""
    told = [pod.terminated for pod in seen.pods if pod.terminated and pod.terminated.result]
    told.sort(key=lambda end: (end.exit_code == 0, str(end.finished_at or "")))
    return told[-1].result if told else None


def _times(seen: Observation) -> str:
    """Return what tells a Job from the one of that name before a suspension."""
    return f"/{seen.resource.generation}" if seen.resource.generation > 1 else ""


def _why_again(seen: Observation) -> tuple[Event, ...]:
    """Tell people why an export that had a Job gets another one."""
    if seen.job is not None:
        message = f"no result of Job {seen.job.name} could be read; it is run again"
        return (Event("Warning", Reason.RESULT_LOST, message, seen.job.uid),)
    name = seen.resource.status.job_name
    if name is not None:
        message = f"Job {name} was deleted before the export had ended; it is created again"
        return (Event("Warning", Reason.JOB_DELETED, message, seen.resource.resource_version),)
    return suspension.resumed(seen)


def _trouble(seen: Observation, now: ModelExportStatus) -> tuple[Event, ...]:
    """Tell people once when a condition turns False while the Job waits."""
    before = {c.type: c for c in seen.resource.status.conditions}
    about = seen.job.uid if seen.job else ""
    told = []
    for entry in now.conditions:
        stored = before.get(entry.type)
        if entry.status != "False" or entry.reason == NOT_REQUESTED:
            continue
        if stored is not None and stored.status == "False":
            continue
        if entry.reason == Phase.QUEUED:  # as often as it is evicted, and no trouble
            since = stored.last_transition_time.isoformat() if stored else ""
            told.append(Event("Normal", entry.reason, entry.message, f"{about}/{since}"))
        else:
            told.append(Event("Warning", entry.reason, entry.message, about))
    return tuple(told)
