"""The outcomes of completions, and how they change the status: pure.

Many outcomes are added in one write; if the status has changed in the meantime, they are added to
the new one.
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
    """A processed completion; `what` is the counter in the status."""

    entry: str
    what: Literal["triggered", "skipped"]


def add_outcomes(
    status: ModelExportTriggerStatus, outcomes: Iterable[Outcome], now: datetime
) -> ModelExportTriggerStatus:
    """Return the status with the outcomes that it does not contain yet."""
    new = [outcome for outcome in outcomes if not ledger.is_done(status, outcome.entry)]
    triggered = sum(outcome.what == "triggered" for outcome in new)
    counted = status.model_copy(
        update={
            "triggered": status.triggered + triggered,
            "skipped": status.skipped + len(new) - triggered,
            "last_triggered_time": now if triggered else status.last_triggered_time,
        }
    )
    return ledger.add_entries(counted, [outcome.entry for outcome in new])
