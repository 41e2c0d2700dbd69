"""What was observed becomes the status: conditions, phase and the facts around them.

Guarantees: a condition's lastTransitionTime moves only when its status does; exactly one of
Complete and Failed is ever there, and it is True; the phase follows from the conditions.
observedGeneration is the last one seen: of a spec only changes what no artifact depends on.
`progress` and `items` have another writer (`progress.py`) until the export ended.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from modelexport_api.conditions import (
    ENDS_OF,
    NOT_REQUESTED,
    NOT_REQUESTED_MESSAGES,
    end_of,
    is_requested,
)
from modelexport_api.pod import PodResult
from modelexport_api.spec import Mode
from modelexport_api.status import (
    Condition,
    ConditionType,
    Failure,
    ModelExportStatus,
    Phase,
    Progress,
    Stage,
)
from modelexport_operator import pods, retries
from modelexport_operator.facts import Fact, cut
from modelexport_operator.failures import CANNOT_START
from modelexport_operator.observe import Observation, ObservedJob
from modelexport_operator.pods import ObservedPod

MESSAGE_LIMIT = 4096


def active(seen: Observation, now: datetime) -> ModelExportStatus:
    """Return the status while no end is known: pending, held back in a queue, or running."""
    pod = pods.current(seen.pods)
    if seen.job is not None and seen.job.suspended:
        return assembled(seen, now, Phase.QUEUED, [_queued(seen.job), *awaited(seen)])
    running = pod is not None and pod.running
    phase = Phase.RUNNING if running else Phase.PENDING
    return assembled(seen, now, phase, [_scheduled(seen, pod), *awaited(seen, pod)])


def succeeded(seen: Observation, result: PodResult, now: datetime) -> ModelExportStatus:
    """Return the final status of a run whose artifact is published, or verified as it was asked."""
    uri = result.artifact.uri if result.artifact else ""
    again = "an artifact of the same source and spec was there already: " if result.reused else ""
    end = end_of(mode(seen))
    facts = [Fact(ConditionType.SCHEDULED, "True", "Scheduled")]
    for kind in ENDS_OF:
        message = f"{again}{uri}" if kind is end else ""
        done = Fact(kind, "True", kind.value, message)
        facts.append(done if is_requested(kind, mode(seen)) else not_requested(kind))
    facts.append(Fact(ConditionType.COMPLETE, "True", end.value, f"{again}{uri}"))
    final = Progress(stage=ENDS_OF[end], percent=100, message=end.value.lower())
    done_status = assembled(seen, now, Phase.SUCCEEDED, facts)
    return done_status.model_copy(
        update={
            "artifact": result.artifact,
            "report_uri": result.report_uri,
            "verification": result.verification,
            "completion_time": end_time(seen, now),
            "progress": final,
        }
    )


def failed(
    seen: Observation, failure: Failure, result: PodResult | None, now: datetime
) -> ModelExportStatus:
    """Return the final status of an export that failed; conditions tell where it stopped."""
    completed = result.completed if result else _before(failure.stage)
    reached = _reached(seen)
    scheduled = (
        Fact(ConditionType.SCHEDULED, "True", "Scheduled")
        if reached
        else Fact(ConditionType.SCHEDULED, "False", failure.reason, failure.message)
    )
    facts = [scheduled, *_stages(mode(seen), failure, completed, reached=reached)]
    facts.append(Fact(ConditionType.FAILED, "True", failure.reason, failure.message))
    ended = assembled(seen, now, Phase.FAILED, facts)
    return ended.model_copy(
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


def not_requested(kind: ConditionType) -> Fact:
    """Return the condition that the mode never brings about."""
    return Fact(kind, "False", NOT_REQUESTED, NOT_REQUESTED_MESSAGES[kind])


def awaited(seen: Observation, pod: ObservedPod | None = None) -> Iterator[Fact]:
    """Yield the stage conditions of a run that goes on; the first one tells about its pod."""
    first = True
    for kind in ENDS_OF:
        if not is_requested(kind, mode(seen)):
            yield not_requested(kind)
        else:
            yield _first(kind, seen, pod) if first else Fact(kind, "Unknown", "Waiting")
            first = False


def _stages(mode: Mode, failure: Failure, completed: list[Stage], *, reached: bool) -> list[Fact]:
    """Return the three stage conditions: True, then one False with the reason, then NotReached."""
    facts: list[Fact] = []
    blamed = not reached
    for kind, stage in ENDS_OF.items():
        if not is_requested(kind, mode):
            facts.append(not_requested(kind))
        elif stage in completed:
            facts.append(Fact(kind, "True", kind.value))
        elif not blamed:
            facts.append(Fact(kind, "False", failure.reason, failure.message))
            blamed = True
        else:
            facts.append(Fact(kind, "False", "NotReached"))
    return facts


def _before(stage: Stage | None) -> list[Stage]:
    """Return what must have been completed when a pod that left no result was at `stage`."""
    order = list(Stage)
    return order[: order.index(stage)] if stage is not None else []


def _reached(seen: Observation) -> bool:
    """Tell whether a pod was ever on a node."""
    stored = {c.type: c.status for c in seen.resource.status.conditions}
    return (
        stored.get(ConditionType.SCHEDULED) == "True"
        or seen.resource.status.start_time is not None
        or any(pod.scheduled or pod.terminated for pod in seen.pods)
    )


def _queued(job: ObservedJob) -> Fact:
    where = f"in queue {job.queue}" if job.queue else "by whoever suspended it"
    message = f"Job {job.name} is held back {where} until it is admitted"
    return Fact(ConditionType.SCHEDULED, "False", Phase.QUEUED, message)


def _scheduled(seen: Observation, pod: ObservedPod | None) -> Fact:
    kind = ConditionType.SCHEDULED
    if pod is not None and (pod.scheduled or pod.running):
        return Fact(kind, "True", "Scheduled")
    if pod is not None and pod.unschedulable is not None:
        return Fact(kind, "False", "Unschedulable", pod.unschedulable)
    if pod is None and seen.pod_refused is not None:
        return Fact(kind, "False", "PodRejected", seen.pod_refused)
    return Fact(kind, "Unknown", "Pending")


def _first(kind: ConditionType, seen: Observation, pod: ObservedPod | None) -> Fact:
    if pod is not None and pod.waiting_reason in CANNOT_START:
        message = f"{pod.waiting_reason}: {pod.waiting_message}"
        return Fact(kind, "False", "PodCannotStart", message)
    retry = retries.latest(seen)
    told = str(retry) if retry is not None and retry.counts else ""
    if pod is not None and pod.running:
        return Fact(kind, "Unknown", "Running", told)
    return Fact(kind, "Unknown", "Retrying" if told else "Waiting", told)


def assembled(
    seen: Observation, now: datetime, phase: Phase, facts: list[Fact]
) -> ModelExportStatus:
    """Return a status of these conditions, with what Job and pods tell about times and counts."""
    stored, job = seen.resource.status, seen.job
    generation = seen.resource.generation
    started = [pod.started_at for pod in seen.pods if pod.started_at is not None]
    starts = [*([stored.start_time] if stored.start_time else []), *started]
    running = sum(pod.running for pod in seen.pods)
    return ModelExportStatus(
        observed_generation=generation,
        phase=phase,
        conditions=[_condition(fact, stored.conditions, generation, now) for fact in facts],
        start_time=min(starts, default=None),
        attempts=(job.failed + job.succeeded + running) if job else stored.attempts,
        job_name=job.name if job else stored.job_name,
    )


def _condition(fact: Fact, stored: list[Condition], generation: int, now: datetime) -> Condition:
    before = next((entry for entry in stored if entry.type == fact.type), None)
    kept = before is not None and before.status == fact.status
    return Condition(
        type=fact.type,
        status=fact.status,
        reason=str(fact.reason),
        message=cut(fact.message, MESSAGE_LIMIT),
        last_transition_time=before.last_transition_time if before is not None and kept else now,
        observed_generation=generation,
    )


def end_time(seen: Observation, now: datetime) -> datetime:
    """Return when the work ended."""
    return seen.job.finished_at or now if seen.job else now
