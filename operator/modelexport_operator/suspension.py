"""`suspend`: the Job is deleted while it is true, and created again when it is false.

This holds with and without a queue; the new Job has the same name. The operator never writes the
Job's own `suspend`. On a Job with a queue label it would conflict with Kueue, which resets the
field within 50 ms in both directions; a deleted Job frees its quota within a second. On a Job
without a queue it would work, but as a second mechanism with other edge cases.

The Job is deleted in the foreground: it exists, and its name is taken, until its pods are deleted.
So there are never two pods of an export at a time, however fast `suspend` is toggled. Published
artifacts are found by their manifest and not exported again; failed attempts are not counted, and
activeDeadlineSeconds starts again.

A finished Job takes precedence: if it finished before it could be deleted, its result is reported,
and `suspend` has no effect afterwards. An export without a Job gets none while it is suspended.
"""

from __future__ import annotations

from datetime import datetime

from modelexport_api.conditions import ConditionState, find_condition
from modelexport_api.status import ConditionType, ModelExportStatus, Phase
from modelexport_api.waits import Wait
from modelexport_operator import status
from modelexport_operator.decisions import Decision, DeleteJob, Event
from modelexport_operator.observe import Observation


def decide(seen: Observation, now: datetime) -> Decision | None:
    """Return the next step of a suspended export; None if it is not suspended."""
    job = seen.job
    if not seen.resource.suspend or (job is not None and job.finished):
        return None
    if job is not None and not job.deleting:
        return Decision(action=DeleteJob(job), events=_suspend_events(seen))
    return hold(seen, now)


def hold(seen: Observation, now: datetime) -> Decision:
    """Start nothing until the export is resumed."""
    return Decision(status=_suspended_status(seen, now), events=_suspend_events(seen))


def resume_events(seen: Observation) -> tuple[Event, ...]:
    """Return the Event for the end of a suspension."""
    if not _is_stored(seen):
        return ()
    message = "spec.suspend is false: the Job is created again"
    return (Event("Normal", "Resumed", message, str(seen.resource.generation)),)


def _suspended_status(seen: Observation, now: datetime) -> ModelExportStatus:
    ending = "; its pods are being deleted" if seen.job is not None and seen.job.deleting else ""
    scheduled = ConditionState(
        ConditionType.SCHEDULED, "False", Wait.SUSPENDED, f"spec.suspend is true{ending}"
    )
    found = status.assemble(
        seen, now, Phase.SUSPENDED, [scheduled, *status.pending_conditions(seen)]
    )
    # Without a name, because the operator itself deleted the Job: see decide._recreation_events.
    return found.model_copy(update={"job_name": None})


def _suspend_events(seen: Observation) -> tuple[Event, ...]:
    if _is_stored(seen):
        return ()
    message = "spec.suspend is true: deleting the Job and its pods"
    return (Event("Normal", Wait.SUSPENDED, message, str(seen.resource.generation)),)


def _is_stored(seen: Observation) -> bool:
    scheduled = find_condition(seen.resource.status.conditions, ConditionType.SCHEDULED)
    return scheduled is not None and scheduled.reason == Wait.SUSPENDED
