"""The current time in the precision of the Kubernetes API."""

from __future__ import annotations

from datetime import UTC, datetime


def now() -> datetime:
    """Return the current time, to the second."""
    return datetime.now(UTC).replace(microsecond=0)
