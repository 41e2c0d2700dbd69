"""What became of completions, and the status that tells it: pure.

Written in one go for many completions; decided again on the status as it is now, if that has
changed meanwhile.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from modelexport_api.trigger import ModelExportTriggerStatus
from modelexport_operator.triggers import ledger


@dataclass(frozen=True)
class Outcome:
    """A completion that has been dealt with; `what` is as the status counts it."""

    entry: str
    what: Literal["triggered", "skipped"]


def recorded(
    status: ModelExportTriggerStatus, outcomes: Iterable[Outcome], now: datetime
) -> ModelExportTriggerStatus:
    """Return the status with the outcomes that it does not hold yet."""
    new = [outcome for outcome in outcomes if not ledger.is_done(status, outcome.entry)]
    triggered = sum(outcome.what == "triggered" for outcome in new)
    counted = status.model_copy(
        update={
            "triggered": status.triggered + triggered,
            "skipped": status.skipped + len(new) - triggered,
            "last_triggered_time": now if triggered else status.last_triggered_time,
        }
    )
    return ledger.added(counted, [outcome.entry for outcome in new])
