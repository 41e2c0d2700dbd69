"""The time of the API."""

from __future__ import annotations

from datetime import UTC, datetime


def now() -> datetime:
    """Return the time as Kubernetes stores it: to the second."""
    return datetime.now(UTC).replace(microsecond=0)
