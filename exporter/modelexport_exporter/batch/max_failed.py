"""spec.maxFailed, for a batch that runs without the operator, which applies the same rule. Pure."""

from __future__ import annotations

from modelexport_api.pod import PodResult
from modelexport_api.reasons import Reason
from modelexport_exporter.core.errors import ExportFailure


def apply_max_failed(result: PodResult, max_failed: int) -> PodResult:
    """Return the result of a share that is the whole batch: failed if too many checkpoints did."""
    counts = result.share
    if result.failure is not None or counts is None or counts.failed <= max_failed:
        return result
    reasons = ", ".join(f"{reason} {count}" for reason, count in counts.reasons.items())
    allowed = f"{max_failed} may (spec.maxFailed)" if max_failed else "none may (spec.maxFailed: 0)"
    failure = ExportFailure(
        Reason.TOO_MANY_FAILED,
        f"{counts.failed} of {counts.batch_total} checkpoints failed, {allowed}: {reasons}. "
        f"{counts.example}",
        "The results list every checkpoint with its reason; those that verified are published.",
    )
    return result.model_copy(update={"outcome": "Failed", "failure": failure.describe()})
