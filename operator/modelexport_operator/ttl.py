"""`ttlSecondsAfterFinished`: an export that ended is deleted as a whole, and its Job with it.

Never only the Job: an operator that finds an export without a Job would have to know why. It
counts from the moment at which the end was stored, so that an end which nobody could read is
never deleted; and whatever the field says now counts, also when it was changed after the end.
"""

from __future__ import annotations

from datetime import datetime, timedelta

from modelexport_operator.observe import ObservedResource


def left(resource: ObservedResource, now: datetime) -> timedelta | None:
    """Return for how long an ended export is kept yet; None: for ever, or it has not ended."""
    if resource.ended_at is None or resource.ttl_seconds is None:
        return None
    return max(timedelta(), resource.ended_at + timedelta(seconds=resource.ttl_seconds) - now)
