"""Which status waits while requests wait for the rate limit: that a pod runs, and nothing else.

Of three hundred exports that start together, many end before it can be written; their Jobs and
verdicts are written sooner without it. The first status, problems, retries and ends never wait.
"""

from __future__ import annotations

from datetime import datetime, timedelta

from modelexport_api.status import Phase
from modelexport_operator.decisions import Decision
from modelexport_operator.observe import Observation

LONGEST = timedelta(seconds=5)
"""From the start of the pod, by the clock of its node."""
PAUSE = timedelta(seconds=1)


def can_wait(seen: Observation, decision: Decision, now: datetime) -> bool:
    """Return whether the status can be written later."""
    status = decision.status
    if status is None or status.start_time is None or decision.events:
        return False
    if (seen.resource.status.phase, status.phase) != (Phase.PENDING, Phase.RUNNING):
        return False
    return timedelta() <= now - status.start_time < LONGEST
