"""Which failures are worth another attempt, and which ones concern the batch as a whole. Pure.

The promise is that one bad checkpoint never spoils the others, so a failure is the batch's only if
no checkpoint can be the cause, and only after two checkpoints have met it and none has got through.
"""

from __future__ import annotations

from collections.abc import Sequence

from modelexport_api.reasons import Reason, is_retryable
from modelexport_api.status import Failure
from modelexport_exporter.batch.items import ItemResult

SHARED_BY_ALL = frozenset(
    {
        Reason.CODE_INVALID,
        Reason.FACTORY_NOT_FOUND,
        Reason.PROVIDER_UNAVAILABLE,
        Reason.SAMPLES_INVALID,
        Reason.SIGNING_FAILED,
    }
)
"""Reasons that speak of code, machine, samples and key: what all checkpoints have in common.

Left out on purpose: DestinationDenied, since the plan was written below the same root before;
InvalidManifest, AccessDenied and DestinationExists, which one URI can bring about; FactoryFailed,
since a factory may read what lies beside a checkpoint.
"""

ATTEMPTS = 3
PAUSES = (2.0, 8.0)
"""Seconds before the second and the third attempt, each spread by half its length."""
_PROOFS = 2


def tries_again(failure: Failure, attempts: int) -> bool:
    """Tell whether a checkpoint gets another attempt in this process."""
    return (
        is_retryable(failure.reason)
        and failure.reason is not Reason.INTERRUPTED
        and attempts < ATTEMPTS
    )


def pause_before(attempt: int, spread: float) -> float:
    """Return how long to wait before an attempt (2, 3, …); `spread`: 0 to 1, by chance."""
    return PAUSES[min(attempt - 2, len(PAUSES) - 1)] * (0.5 + spread)


def concerns_all(tried: Sequence[ItemResult], share_total: int) -> bool:
    """Tell whether the checkpoints that were tried failed for what all of them share."""
    reasons = {result.reason for result in tried}
    enough = len(tried) >= min(_PROOFS, share_total)
    return enough and len(reasons) == 1 and reasons <= SHARED_BY_ALL
