"""A Job that cannot be created now: the status says why, and the creation is repeated.

The API server refuses for a passing reason: a quota on Jobs is used up, a webhook does not answer,
the namespace is being deleted, the operator lacks a permission, the server is busy. The export has
not failed, and nobody else would report it: there is no Job whose Events a user could read.
"""

from __future__ import annotations

from datetime import datetime

from modelexport_api.conditions import ConditionState, find_condition
from modelexport_api.status import ConditionType
from modelexport_api.waits import Wait
from modelexport_operator import status
from modelexport_operator.decisions import Decision, Event
from modelexport_operator.observe import Observation
from modelexport_operator.rejections import Cause, Rejection

_REASONS = {
    Cause.QUOTA: Wait.QUOTA_EXCEEDED,
    Cause.NAMESPACE_TERMINATING: Wait.NAMESPACE_TERMINATING,
    Cause.MISSING_PERMISSION: Wait.PERMISSION_MISSING,
    Cause.WEBHOOK: Wait.WEBHOOK_FAILED,
    Cause.SERVER_STARTING: Wait.JOB_NOT_CREATED,
    Cause.OTHER: Wait.JOB_NOT_CREATED,
}


def decide(seen: Observation, delay: Rejection, now: datetime) -> Decision:
    """Report why the Job does not exist, and retry."""
    reason = _REASONS[delay.cause]
    message = f"the Job cannot be created now: {delay.message}"
    scheduled = ConditionState(ConditionType.SCHEDULED, "False", reason, message)
    found = status.assemble(
        seen, now, status.active_phase(seen), [scheduled, *status.pending_conditions(seen)]
    )
    stored = find_condition(seen.resource.status.conditions, ConditionType.SCHEDULED)
    reported = stored is not None and (stored.status, stored.reason) == ("False", reason)
    # The number of the attempt to create a Job is not stored, so the Event is one per reason.
    events = () if reported else (Event("Warning", reason, message, str(seen.resource.generation)),)
    return Decision(status=found, events=events, retry=True)
