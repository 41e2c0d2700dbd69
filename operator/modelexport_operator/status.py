"""What was observed becomes the status: conditions, phase and the facts around them.

Guarantees: a condition's lastTransitionTime moves only when its status does; exactly one of
Complete and Failed is ever there, and it is True; observedGeneration is the generation that was
really exported. `progress` has another writer (`progress.py`) until the export succeeded.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from modelexport_api.pod import PodResult
from modelexport_api.status import (
    Condition,
    ConditionType,
    Failure,
    ModelExportStatus,
    Phase,
    Progress,
    Stage,
)
from modelexport_operator.failures import CANNOT_START
from modelexport_operator.observe import Observation, ObservedPod

MESSAGE_LIMIT = 4096
_ENDS_OF = {
    ConditionType.EXPORTED: Stage.CONTRACT,
    ConditionType.VERIFIED: Stage.VERIFY,
    ConditionType.PUBLISHED: Stage.PUBLISH,
}
"""A condition is True once this stage is completed."""


@dataclass(frozen=True)
class Fact:
    """A condition without its times."""

    type: ConditionType
    status: Literal["True", "False", "Unknown"]
    reason: str
    message: str = ""


def active(seen: Observation, now: datetime) -> ModelExportStatus:
    """Return the status while no end is known: pending or running."""
    pod = current_pod(seen.pods)
    running = pod is not None and pod.running
    scheduled = _scheduled(seen, pod)
    exported = _exported(pod)
    waiting = [Fact(kind, "Unknown", "Waiting") for kind in list(_ENDS_OF)[1:]]
    phase = Phase.RUNNING if running else Phase.PENDING
    return _assembled(seen, now, phase, [scheduled, exported, *waiting])


def succeeded(seen: Observation, result: PodResult, now: datetime) -> ModelExportStatus:
    """Return the final status of an export whose artifact is published."""
    uri = result.artifact.uri if result.artifact else ""
    again = "an artifact of the same source and spec was there already: " if result.reused else ""
    published = Fact(ConditionType.PUBLISHED, "True", "Published", f"{again}{uri}")
    facts = [
        Fact(ConditionType.SCHEDULED, "True", "Scheduled"),
        Fact(ConditionType.EXPORTED, "True", "Exported"),
        Fact(ConditionType.VERIFIED, "True", "Verified"),
        published,
        Fact(ConditionType.COMPLETE, "True", "Published", published.message),
    ]
    done = _assembled(seen, now, Phase.SUCCEEDED, facts)
    return done.model_copy(
        update={
            "artifact": result.artifact,
            "report_uri": result.report_uri,
            "verification": result.verification,
            "completion_time": _end(seen, now),
            "progress": Progress(stage=Stage.PUBLISH, percent=100, message="published"),
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
    facts = [scheduled, *_stages(failure, completed, reached=reached)]
    facts.append(Fact(ConditionType.FAILED, "True", failure.reason, failure.message))
    ended = _assembled(seen, now, Phase.FAILED, facts)
    return ended.model_copy(
        update={
            "failure": failure,
            "report_uri": result.report_uri if result else None,
            "verification": result.verification if result else None,
            "completion_time": _end(seen, now),
        }
    )


def current_pod(pods: tuple[ObservedPod, ...]) -> ObservedPod | None:
    """Return the pod that is not over, the youngest if there should be several."""
    alive = [pod for pod in pods if pod.terminated is None and pod.phase in {"Pending", "Running"}]
    return max(alive, key=lambda pod: (pod.created is not None, pod.created), default=None)


def _stages(failure: Failure, completed: list[Stage], *, reached: bool) -> list[Fact]:
    """Return the three stage conditions: True, then one False with the reason, then NotReached."""
    facts: list[Fact] = []
    blamed = not reached
    for kind, stage in _ENDS_OF.items():
        if stage in completed:
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
    return stored.get(ConditionType.SCHEDULED) == "True" or any(
        pod.scheduled or pod.terminated for pod in seen.pods
    )


def _scheduled(seen: Observation, pod: ObservedPod | None) -> Fact:
    kind = ConditionType.SCHEDULED
    if pod is not None and (pod.scheduled or pod.running):
        return Fact(kind, "True", "Scheduled")
    if pod is not None and pod.unschedulable is not None:
        return Fact(kind, "False", "Unschedulable", pod.unschedulable)
    if pod is None and seen.pod_refused is not None:
        return Fact(kind, "False", "PodRejected", seen.pod_refused)
    return Fact(kind, "Unknown", "Pending")


def _exported(pod: ObservedPod | None) -> Fact:
    kind = ConditionType.EXPORTED
    if pod is None:
        return Fact(kind, "Unknown", "Waiting")
    if pod.waiting_reason in CANNOT_START:
        message = f"{pod.waiting_reason}: {pod.waiting_message}"
        return Fact(kind, "False", "PodCannotStart", message)
    return Fact(kind, "Unknown", "Running" if pod.running else "Waiting")


def _assembled(
    seen: Observation, now: datetime, phase: Phase, facts: list[Fact]
) -> ModelExportStatus:
    stored, job = seen.resource.status, seen.job
    generation = job.generation if job else seen.resource.generation
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
    message = fact.message
    if len(message) > MESSAGE_LIMIT:
        message = message[: MESSAGE_LIMIT - 1] + "…"
    return Condition(
        type=fact.type,
        status=fact.status,
        reason=str(fact.reason),
        message=message,
        last_transition_time=before.last_transition_time if before is not None and kept else now,
        observed_generation=generation,
    )


def _end(seen: Observation, now: datetime) -> datetime:
    return seen.job.finished_at or now if seen.job else now
