"""The columns REASON and MESSAGE: which condition says why a ModelExport is not well.

After the end it is the condition of the end. Before, it is the first condition that is not True for
one of the reasons in `waits`: what the ModelExport waits for, then why it is retried.
"""

from __future__ import annotations

from collections.abc import Iterable

from modelexport_api.base import truncate
from modelexport_api.conditions import ENDS_OF, PARTIALLY, find_condition
from modelexport_api.status import Condition, ConditionType
from modelexport_api.waits import Wait

LENGTH = 160
"""Of the message: a column of `kubectl get`."""

_WAITING = (ConditionType.SCHEDULED, *ENDS_OF)
_WAITS = set(Wait)


def summarize(conditions: Iterable[Condition]) -> dict[str, str]:
    """Return the fields `reason` and `message` of a status; none while all is well."""
    found = first_trouble(list(conditions))
    if found is None:
        return {}
    text = " ".join(found.message.split())
    return {"reason": found.reason, **({"message": truncate(text, LENGTH)} if text else {})}


def first_trouble(conditions: list[Condition]) -> Condition | None:
    """Return the condition that is not well, or None."""
    failed = find_condition(conditions, ConditionType.FAILED)
    if failed is not None:
        return failed
    complete = find_condition(conditions, ConditionType.COMPLETE)
    if complete is not None:
        return complete if complete.reason.startswith(PARTIALLY) else None
    waiting = (find_condition(conditions, kind) for kind in _WAITING)
    return next((c for c in waiting if c and c.status != "True" and c.reason in _WAITS), None)
