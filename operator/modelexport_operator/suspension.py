"""`suspend`: no work while it is true, and work as if nothing had been when it is false again.

One rule, whoever admits the Job: to suspend an export is to delete its Job, to resume it is to
create the Job anew, under the same name. The Job's own `suspend` is never written. On a Job with
a queue label that would be a fight (Kueue lifts within 50 ms what a user suspends, and stops what
he lifts); a Job that is gone frees its quota within a second. For a Job without a queue it would
work, at the price of a second way to the same end, with other edges.

The Job is deleted in the foreground: it is gone, and its name free, when its pods are. So no two
pods of an export ever work at a time, however fast somebody toggles. What was published until
then is found by its manifest and not exported again; failed attempts are forgotten, and
activeDeadlineSeconds begins again.

An end wins: a Job that had finished before it could be deleted is reported as usual, and after
that `suspend` means nothing. An export that has no Job yet gets none.
"""

from __future__ import annotations

from datetime import datetime

from modelexport_api.status import ConditionType, ModelExportStatus, Phase
from modelexport_operator import status
from modelexport_operator.decisions import Decision, DeleteJob, Event
from modelexport_operator.facts import Fact, condition
from modelexport_operator.observe import Observation

REASON = "Suspended"


def decide(seen: Observation, now: datetime) -> Decision | None:
    """Return what a suspension asks for; None where there is none."""
    job = seen.job
    if not seen.resource.suspend or (job is not None and job.finished):
        return None
    if job is not None and not job.deleting:
        return Decision(action=DeleteJob(job), events=_told(seen))
    return hold(seen, now)


def hold(seen: Observation, now: datetime) -> Decision:
    """Begin nothing until the export is resumed."""
    return Decision(status=_suspended(seen, now), events=_told(seen))


def resumed(seen: Observation) -> tuple[Event, ...]:
    """Tell people that the work goes on."""
    if not _is_stored(seen):
        return ()
    about = str(seen.resource.generation)
    return (Event("Normal", "Resumed", "spec.suspend is false: the work goes on", about),)


def _suspended(seen: Observation, now: datetime) -> ModelExportStatus:
    ending = "; its pods are being ended" if seen.job is not None and seen.job.deleting else ""
    fact = Fact(ConditionType.SCHEDULED, "False", REASON, f"spec.suspend is true{ending}")
    found = status.assembled(seen, now, Phase.SUSPENDED, [fact, *status.awaited(seen)])
    # Without a name: a Job that is missing was not taken away by somebody else.
    return found.model_copy(update={"job_name": None})


def _told(seen: Observation) -> tuple[Event, ...]:
    if _is_stored(seen):
        return ()
    message = "spec.suspend is true: the Job is deleted, its pods end"
    return (Event("Normal", REASON, message, str(seen.resource.generation)),)


def _is_stored(seen: Observation) -> bool:
    scheduled = condition(seen.resource.status, ConditionType.SCHEDULED)
    return scheduled is not None and scheduled.reason == REASON
