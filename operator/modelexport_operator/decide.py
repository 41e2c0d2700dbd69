"""What to do about one ModelExport: a pure function of what was observed.

The whole behaviour of the operator is here; everything else fetches, writes or schedules.

- Complete or Failed once stored is the end: nothing is ever created again.
- No Job and no end: create it, also when somebody deleted it (publishing is idempotent: a run
  that had finished is found by its manifest and answered at once).
- A Job that ended without a readable result is run once more, under a second name.
- What Kubernetes would retry or wait for in vain is stopped.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from modelexport_api.pod import PodResult
from modelexport_api.reasons import Reason
from modelexport_api.status import Failure, ModelExportStatus
from modelexport_operator import failures, status
from modelexport_operator.failures import failure
from modelexport_operator.job import JobError, build
from modelexport_operator.observe import Observation, ObservedJob
from modelexport_operator.settings import Settings

LAST_RUN = 2
_SOON = timedelta(seconds=2)
_LATE = timedelta(seconds=60)
_RUNNING = timedelta(seconds=120)
"""When to look at a pod that runs, in case its end was missed."""


@dataclass(frozen=True)
class CreateJob:
    """Create this Job; that it exists already is success."""

    manifest: dict[str, Any]


@dataclass(frozen=True)
class StopJob:
    """End the Job and store why with it, in one write."""

    job: ObservedJob
    failure: Failure


@dataclass(frozen=True)
class Event:
    """A Kubernetes Event. `about` tells two events of one reason apart; the same is told once."""

    type: str
    reason: str
    message: str
    about: str


@dataclass(frozen=True)
class Decision:
    """An action, after which is observed and decided again; or a status, which ends the round."""

    action: CreateJob | StopJob | None = None
    status: ModelExportStatus | None = None
    events: tuple[Event, ...] = ()
    requeue_after: timedelta | None = None


def decide(seen: Observation, now: datetime, settings: Settings) -> Decision:
    """Return what to do now."""
    if seen.resource.deleting:
        return Decision()
    decision = _undecided(seen, now, settings)
    return replace(decision, events=(*_spec_change(seen), *decision.events))


def _undecided(seen: Observation, now: datetime, settings: Settings) -> Decision:
    if seen.resource.terminal:
        return Decision()
    if seen.job_refused is not None:
        return _fail(seen, failures.refused_job(seen.job_refused), now)
    if seen.job is None:
        return _create(seen, now, settings, run=1)
    if seen.job.deleting and not seen.job.finished:
        return Decision(requeue_after=_SOON)
    if seen.job.finished:
        return _finish(seen, seen.job, now, settings)
    return _follow(seen, seen.job, now, settings)


def _create(seen: Observation, now: datetime, settings: Settings, run: int) -> Decision:
    export = seen.resource.export
    if export is None:
        return _invalid(seen, seen.resource.error or "the manifest cannot be read", now)
    try:
        manifest = build(export, settings, run)
    except JobError as error:
        return _invalid(seen, str(error), now)
    name = manifest["metadata"]["name"]
    created = Event("Normal", "JobCreated", f"created Job {name}", name)
    return Decision(action=CreateJob(manifest), events=(*_why_again(seen), created))


def _finish(seen: Observation, job: ObservedJob, now: datetime, settings: Settings) -> Decision:
    result = _result(seen)
    if job.complete and result is not None and result.outcome == "Succeeded":
        ended = status.succeeded(seen, result, now)
        told = Event("Normal", "Complete", ended.conditions[-1].message, "end")
        return Decision(status=ended, events=(told,))
    why = result.failure if job.complete and result else None
    why = why or (failures.of_finished(seen, job) if not job.complete else None)
    if why is not None:
        return _fail(seen, why, now)
    if job.run < LAST_RUN and seen.resource.export is not None:
        return _create(seen, now, settings, run=job.run + 1)
    return _fail(seen, failures.result_lost(job), now)


def _follow(seen: Observation, job: ObservedJob, now: datetime, settings: Settings) -> Decision:
    grace = timedelta(seconds=settings.pod_start_grace_seconds)
    why = failures.reason_to_stop(seen, now, grace)
    if why is not None and job.stopped is None:
        return Decision(action=StopJob(job, why))
    pod = status.current_pod(seen.pods)
    wait = _RUNNING if pod is not None and pod.running else _patience(job, now)
    now_status = status.active(seen, now)
    return Decision(status=now_status, events=_trouble(seen, now_status), requeue_after=wait)


def _patience(job: ObservedJob, now: datetime) -> timedelta:
    """Return when to look at a pod that does not run yet: often at first, then rarely."""
    age = now - job.created if job.created else timedelta()
    return max(_SOON, min(_LATE, age / 4))


def _fail(seen: Observation, why: Failure, now: datetime) -> Decision:
    told = _result(seen)
    speaks = told is not None and (told.failure == why or why.reason == Reason.RETRIES_EXHAUSTED)
    ended = status.failed(seen, why, told if speaks else None, now)
    hint = f" ({why.hint})" if why.hint else ""
    return Decision(
        status=ended, events=(Event("Warning", why.reason, f"{why.message}{hint}", "end"),)
    )


def _invalid(seen: Observation, message: str, now: datetime) -> Decision:
    hint = "correct it in a new ModelExport; `kubectl explain modelexport.spec` has all fields"
    return _fail(seen, failure(Reason.INVALID_MANIFEST, message, hint), now)


def _result(seen: Observation) -> PodResult | None:
    """Return what the last pod that could speak said; a success goes before everything."""
    told = [pod.terminated for pod in seen.pods if pod.terminated and pod.terminated.result]
    told.sort(key=lambda end: (end.exit_code == 0, str(end.finished_at or "")))
    return told[-1].result if told else None


def _why_again(seen: Observation) -> tuple[Event, ...]:
    """Tell people why an export that had a Job gets another one."""
    if seen.job is not None:
        message = f"no result of Job {seen.job.name} could be read; it is run again"
        return (Event("Warning", Reason.RESULT_LOST, message, seen.job.uid),)
    name = seen.resource.status.job_name
    if name is not None:
        message = f"Job {name} was deleted before the export had ended; it is created again"
        return (Event("Warning", Reason.JOB_DELETED, message, seen.resource.resource_version),)
    return ()


def _trouble(seen: Observation, now: ModelExportStatus) -> tuple[Event, ...]:
    """Tell people once when a condition turns False while the Job waits."""
    before = {c.type: c.status for c in seen.resource.status.conditions}
    about = seen.job.uid if seen.job else ""
    return tuple(
        Event("Warning", entry.reason, entry.message, about)
        for entry in now.conditions
        if entry.status == "False" and before.get(entry.type) != "False"
    )


def _spec_change(seen: Observation) -> tuple[Event, ...]:
    """Tell people that a changed spec does not change an export that has begun."""
    job, resource = seen.job, seen.resource
    begun = job.generation if job else resource.status.observed_generation
    if begun is None or resource.generation <= begun:
        return ()
    message = (
        f"generation {resource.generation} of the spec has no effect: generation {begun} is what "
        "is exported; create a new ModelExport for a changed spec"
    )
    return (Event("Warning", "SpecChangeIgnored", message, str(resource.generation)),)
