"""The processed completions: they guarantee one export per completion.

An entry is written to the trigger's status after the ModelExport was created (or the completion
was skipped). Until then, the ModelExport's name, a function of trigger and object, makes a second
creation a conflict; afterwards the entry prevents it, even if history limits, a TTL or a person
deleted the ModelExport. The number of entries is limited: those older than an hour and not among
the latest are replaced by one time, up to which all completions count as processed.
"""

from __future__ import annotations

import hashlib
from bisect import bisect_right
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta

from modelexport_api.trigger import ModelExportTriggerStatus
from modelexport_operator.triggers.completion import Completion

KEPT = 200
LIMIT = 5000
AGE = timedelta(hours=1)
_FORMAT = "%Y-%m-%dT%H:%M:%SZ"


def entry(uid: str, found: Completion) -> str:
    """Return the entry of a completion. Entries sort by time."""
    digest = hashlib.sha256(f"{uid}/{found.run}".encode()).hexdigest()[:16]
    return f"{found.when.strftime(_FORMAT)} {digest}"


def when(recorded: str) -> datetime:
    """Return the time of an entry."""
    return datetime.strptime(recorded.partition(" ")[0], _FORMAT).replace(tzinfo=UTC)


def is_done(status: ModelExportTriggerStatus, candidate: str) -> bool:
    """Return whether a completion was processed, even if its time has changed since."""
    if status.processed_until is not None and when(candidate) <= status.processed_until:
        return True
    digest = candidate.partition(" ")[2]
    return any(known.endswith(digest) for known in status.processed)


def add_entries(
    status: ModelExportTriggerStatus, entries: Iterable[str]
) -> ModelExportTriggerStatus:
    """Return the status with more processed completions; too many are replaced by a time."""
    kept = sorted({*status.processed, *entries})
    times = [when(known) for known in kept]
    until, first = status.processed_until, 0
    while len(kept) - first > KEPT and (
        len(kept) - first > LIMIT or times[-1] - times[first] > AGE
    ):
        until = times[first]
        first = bisect_right(times, until)
    return status.model_copy(update={"processed": kept[first:], "processed_until": until})
