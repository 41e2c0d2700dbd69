"""Which failures are retried, and which ones end the whole batch. Pure.

One bad checkpoint never affects the others: a failure ends the batch only if no checkpoint can be
the cause, and only after two checkpoints failed for it and none succeeded.
"""

from __future__ import annotations

from collections.abc import Sequence

from modelexport_api.reasons import Reason, is_retryable
from modelexport_api.status import Failure
from modelexport_exporter.batch.item_result import ItemResult

SHARED_BY_ALL = frozenset(
    {
        Reason.CODE_INVALID,
        Reason.FACTORY_NOT_FOUND,
        Reason.PROVIDER_UNAVAILABLE,
        Reason.SAMPLES_INVALID,
        Reason.SIGNING_FAILED,
    }
)
"""Reasons about code, machine, samples and key, which all checkpoints share.

Excluded on purpose: DestinationDenied, since the plan was written below the same root before;
InvalidManifest, AccessDenied and DestinationExists, which one URI can cause; FactoryFailed, since a
factory may read files next to a checkpoint.
"""

ATTEMPTS = 3
PAUSES = (2.0, 8.0)
"""Seconds before the second and the third attempt, each varied at random by ± 50 %."""
_PROOFS = 2


def should_retry(failure: Failure, attempts: int) -> bool:
    """Return whether a checkpoint gets another attempt in this process."""
    return (
        is_retryable(failure.reason)
        and failure.reason is not Reason.INTERRUPTED
        and attempts < ATTEMPTS
    )


def retry_delay(attempt: int, jitter: float) -> float:
    """Return the seconds to wait before an attempt (2, 3, …); `jitter`: random, 0 to 1."""
    return PAUSES[min(attempt - 2, len(PAUSES) - 1)] * (0.5 + jitter)


def is_shared_failure(tried: Sequence[ItemResult], share_total: int) -> bool:
    """Return whether the failures of all tried checkpoints have one shared cause."""
    reasons = {result.reason for result in tried}
    enough = len(tried) >= min(_PROOFS, share_total)
    return enough and len(reasons) == 1 and reasons <= SHARED_BY_ALL
