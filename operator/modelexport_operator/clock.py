"""Times as in the Kubernetes API."""

from __future__ import annotations

from datetime import UTC, datetime


def parse(text: str | None) -> datetime | None:
    """Return a time that Kubernetes wrote; None if there is none."""
    return datetime.fromisoformat(text) if text else None


def format_micro(time: datetime) -> str:
    """Return a time as a MicroTime of the Kubernetes API."""
    return time.isoformat(timespec="microseconds").replace("+00:00", "Z")


def now() -> datetime:
    """Return the current time, to the second."""
    return datetime.now(UTC).replace(microsecond=0)
