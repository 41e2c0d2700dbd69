"""`ttlSecondsAfterFinished`: a finished export is deleted, and its Job with it.

The Job is never deleted alone: the operator could not know why an export has none. The time counts
from the moment at which the end was stored, so that users can read it in any case. The current
value applies, even if it was changed after the end.
"""

from __future__ import annotations

from datetime import datetime, timedelta

from modelexport_operator.observe import ObservedResource


def remaining(resource: ObservedResource, now: datetime) -> timedelta | None:
    """Return how long a finished export is still kept; None if without limit or not finished."""
    if resource.ended_at is None or resource.ttl_seconds is None:
        return None
    return max(timedelta(), resource.ended_at + timedelta(seconds=resource.ttl_seconds) - now)
