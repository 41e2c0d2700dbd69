"""Which status is written a moment later: that a pod runs, and nothing else.

A pod that ends at once, since its spec is wrong or its work is done already, needs one status. Of
three hundred exports that start together, many end before it can be written; their Jobs and
verdicts are written sooner without it. The first status, problems, retries
and ends never wait.
"""

from __future__ import annotations

from datetime import datetime, timedelta

from modelexport_api.status import Phase
from modelexport_operator.decisions import Decision
from modelexport_operator.observe import Observation

SHORT = timedelta(seconds=2)
"""From the start of the pod, by the clock of its node, whose times have no fractions."""
LONG = timedelta(seconds=10)
"""The same while requests wait for the rate limit, or exports for a worker."""
PAUSE = timedelta(seconds=1)


def can_wait(seen: Observation, decision: Decision, now: datetime, *, busy: bool) -> bool:
    """Return whether the status can be written later. `busy`: whether others wait."""
    status = decision.status
    if status is None or status.start_time is None or decision.events:
        return False
    if (seen.resource.status.phase, status.phase) != (Phase.PENDING, Phase.RUNNING):
        return False
    return timedelta() <= now - status.start_time < (LONG if busy else SHORT)
