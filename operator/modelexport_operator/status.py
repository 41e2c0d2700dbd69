"""Build the status from an observation: conditions, phase, times and counts.

Guarantees: a condition's lastTransitionTime changes only when its status does, and never goes back;
at most one of Complete and Failed is present, and it is True; the phase never goes back.
observedGeneration is the latest one: only fields that no artifact depends on can change.
`progress` and `items` have another writer (`progress.py`) until the export has finished.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from modelexport_api.conditions import (
    ENDS_OF,
    ConditionState,
    after_run,
    end_of,
    find_condition,
    is_requested,
    not_requested,
)
from modelexport_api.pod import PodResult
from modelexport_api.spec import Mode
from modelexport_api.status import (
    ConditionType,
    Failure,
    ModelExportStatus,
    Phase,
    Progress,
    Stage,
)
from modelexport_api.summary import summarize
from modelexport_api.waits import Wait
from modelexport_operator import deadlines, kueue, pods, readiness, retries
from modelexport_operator.failures import CANNOT_START
from modelexport_operator.observe import Observation, ObservedJob
from modelexport_operator.pods import ObservedPod


def build_active(seen: Observation, now: datetime) -> ModelExportStatus:
    """Return the status of an export in progress: pending, queued or running."""
    pod = pods.current(seen.pods)
    if seen.job is not None and seen.job.suspended:
        return assemble(
            seen, now, Phase.QUEUED, [_queued_condition(seen, seen.job), *pending_conditions(seen)]
        )
    conditions = [_scheduled_condition(seen, pod), *pending_conditions(seen, pod)]
    return assemble(seen, now, active_phase(seen), conditions)


def active_phase(seen: Observation) -> Phase:
    """Return Running from the start of the Job's first pod on, also between two attempts.

    So the phase never goes back to Pending, except after the phases Queued and Suspended.
    """
    begun = seen.resource.status.phase is Phase.RUNNING
    started = any(pod.running or (pod.started_at and _is_of_start(pod, seen)) for pod in seen.pods)
    return Phase.RUNNING if begun or started else Phase.PENDING


def build_succeeded(seen: Observation, result: PodResult, now: datetime) -> ModelExportStatus:
    """Return the final status of a successful export or verification."""
    uri = result.artifact.uri if result.artifact else ""
    reused = "reused an artifact of the same source and spec: " if result.reused else ""
    end = end_of(mode(seen))
    message = f"{reused}{uri}"
    scheduled = ConditionState(ConditionType.SCHEDULED, "True", "Scheduled")
    stages = after_run(mode(seen), tuple(Stage), None, {end: message})
    complete = ConditionState(ConditionType.COMPLETE, "True", end.value, message)
    final = Progress(stage=ENDS_OF[end], percent=100, message=end.value.lower())
    return assemble(seen, now, Phase.SUCCEEDED, [scheduled, *stages, complete]).model_copy(
        update={
            "artifact": result.artifact,
            "report_uri": result.report_uri,
            "verification": result.verification,
            "completion_time": end_time(seen, now),
            "progress": final,
        }
    )


def build_failed(
    seen: Observation, failure: Failure, result: PodResult | None, now: datetime
) -> ModelExportStatus:
    """Return the final status of a failed export; its conditions show where it stopped."""
    completed = result.completed if result else _stages_before(failure.stage)
    was_scheduled = _was_scheduled(seen)
    scheduled = (
        ConditionState(ConditionType.SCHEDULED, "True", "Scheduled")
        if was_scheduled
        else ConditionState(ConditionType.SCHEDULED, "False", failure.reason, failure.message)
    )
    stages = after_run(mode(seen), completed, failure if was_scheduled else None, {})
    failed = ConditionState(ConditionType.FAILED, "True", failure.reason, failure.message)
    conditions = [scheduled, *stages, failed]
    return assemble(seen, now, Phase.FAILED, conditions, failure).model_copy(
        update={
            "failure": failure,
            "report_uri": result.report_uri if result else None,
            "verification": result.verification if result else None,
            "completion_time": end_time(seen, now),
        }
    )


def mode(seen: Observation) -> Mode:
    """Return the mode of the export."""
    export = seen.resource.export
    return export.spec.mode if export else Mode.EXPORT


def pending_conditions(
    seen: Observation, pod: ObservedPod | None = None
) -> Iterator[ConditionState]:
    """Yield the stage conditions of a run in progress; the first describes its pod."""
    first = True
    for kind in ENDS_OF:
        if not is_requested(kind, mode(seen)):
            yield not_requested(kind)
        else:
            yield (
                _first_condition(kind, seen, pod)
                if first
                else ConditionState(kind, "Unknown", "Waiting")
            )
            first = False


def _stages_before(stage: Stage | None) -> list[Stage]:
    """Return the stages before the last known one of a pod without a result."""
    order = list(Stage)
    return order[: order.index(stage)] if stage is not None else []


def _was_scheduled(seen: Observation) -> bool:
    """Return whether a pod was ever assigned to a node."""
    stored = {c.type: c.status for c in seen.resource.status.conditions}
    return (
        stored.get(ConditionType.SCHEDULED) == "True"
        or seen.resource.status.start_time is not None
        or any(pod.scheduled or pod.terminated for pod in seen.pods)
    )


def _is_of_start(pod: ObservedPod, seen: Observation) -> bool:
    """Return whether a pod was created since the Job was started, the last time by its queue."""
    started = seen.job.admitted if seen.job is not None else None
    return pod.created is None or started is None or pod.created >= started


def _queued_condition(seen: Observation, job: ObservedJob) -> ConditionState:
    """Return Kueue's words; the stored ones if the Workload was not read now."""
    kind = ConditionType.SCHEDULED
    if seen.workload is not None:
        state = kueue.describe(seen.workload)
        return ConditionState(kind, "False", state.reason, state.message)
    stored = find_condition(seen.resource.status.conditions, kind)
    if stored is not None and stored.status == "False" and stored.reason in kueue.REASONS:
        return ConditionState(kind, "False", stored.reason, stored.message)
    where = f"in queue {job.queue}" if job.queue else "suspended by another controller"
    message = f"Job {job.name} is {where} and waits for admission"
    return ConditionState(kind, "False", Wait.QUEUED, message)


def _scheduled_condition(seen: Observation, pod: ObservedPod | None) -> ConditionState:
    kind = ConditionType.SCHEDULED
    if pod is not None and (pod.scheduled or pod.running):
        return ConditionState(kind, "True", "Scheduled", since=pod.scheduled_at)
    if pod is not None and pod.unschedulable is not None:
        message, since = pod.unschedulable, pod.scheduled_at
        return ConditionState(kind, "False", Wait.UNSCHEDULABLE, message, since)
    if pod is None and seen.pod_rejection is not None:
        return ConditionState(kind, "False", Wait.POD_REJECTED, seen.pod_rejection.message)
    earlier = [other for other in seen.pods if other.ended and _is_of_start(other, seen)]
    if any(other.scheduled for other in earlier):  # the Job ends, or its next pod is on its way
        return ConditionState(kind, "True", "Scheduled")
    return ConditionState(kind, "Unknown", "Pending")


def _first_condition(
    kind: ConditionType, seen: Observation, pod: ObservedPod | None
) -> ConditionState:
    if pod is not None and pod.waiting_reason in CANNOT_START:
        message = f"{pod.waiting_reason}: {pod.waiting_message}"
        return ConditionState(kind, "False", Wait.POD_CANNOT_START, message)
    if pod is not None and pod.obstacle is not None:
        message = _with_deadline(pod.obstacle.message, seen)
        return ConditionState(kind, "Unknown", pod.obstacle.reason, message)
    retry = retries.latest(seen)
    message = str(retry) if retry is not None and retry.counts else ""
    if pod is not None and pod.running:
        return ConditionState(kind, "Unknown", "Running", message)
    if message:
        return ConditionState(kind, "Unknown", Wait.RETRYING, message)
    missing = pod is not None and pod.unschedulable is not None and not pod.scheduled
    late = _with_deadline("", seen) if missing or seen.pod_rejection is not None else ""
    return ConditionState(kind, "Unknown", "Waiting", late)


def _with_deadline(message: str, seen: Observation) -> str:
    """Add when the Job ends although no pod has started."""
    started = seen.resource.status.start_time is not None or any(p.started_at for p in seen.pods)
    deadline = "" if started or seen.job is None else deadlines.describe_active_deadline(seen.job)
    return "; ".join(part for part in (message, deadline) if part)


def assemble(
    seen: Observation,
    now: datetime,
    phase: Phase,
    conditions: list[ConditionState],
    failure: Failure | None = None,
) -> ModelExportStatus:
    """Return a status with these conditions and those that follow from them, times and counts."""
    conditions = [*readiness.conditions(phase, conditions, failure), *conditions]
    stored, job = seen.resource.status, seen.job
    generation = seen.resource.generation
    started = [pod.started_at for pod in seen.pods if pod.started_at is not None]
    starts = [*([stored.start_time] if stored.start_time else []), *started]
    running = sum(pod.running for pod in seen.pods)
    dated = [entry.to_condition(stored.conditions, generation, now) for entry in conditions]
    return ModelExportStatus(
        observed_generation=generation,
        phase=phase,
        **summarize(dated),
        conditions=dated,
        start_time=min(starts, default=None),
        attempts=(job.failed + job.succeeded + running) if job else stored.attempts,
        job_name=job.name if job else stored.job_name,
    )


def end_time(seen: Observation, now: datetime) -> datetime:
    """Return the time when the work ended."""
    return seen.job.finished_at or now if seen.job else now
