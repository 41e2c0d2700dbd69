"""The summary of a verification, for the status and the report. Pure."""

from __future__ import annotations

import math
import sys

from modelexport_api.isolation import IsolationInForce
from modelexport_api.status import VerificationResult
from modelexport_exporter.core.benchmark_plan import Benchmark
from modelexport_exporter.core.comparison import limit_share
from modelexport_exporter.core.outcome import VerificationOutcome

_LARGEST = sys.float_info.max


def summary_of(
    outcome: VerificationOutcome | None,
    benchmark: Benchmark | None,
    isolation: IsolationInForce | None,
) -> VerificationResult | None:
    """Return the verdict's summary; errors end at the largest float, as JSON's numbers do."""
    if outcome is None:
        return None
    summary = outcome.summary
    errors = {
        "max_abs_error": _finite(summary.max_abs_error),
        "max_rel_error": _finite(summary.max_rel_error),
        "limit_share": _largest_share(outcome),
    }
    latency = {"latency_ms": benchmark.latency} if benchmark else {}
    return summary.model_copy(update={**errors, **latency, "isolation": isolation})


def _finite(value: float) -> float:
    return value if math.isfinite(value) else _LARGEST


def _largest_share(outcome: VerificationOutcome) -> float:
    """Return the largest share of its limit that a comparison took."""
    shares = (
        limit_share(found.max_abs_error, found.limit, wrong=bool(found.problem))
        for sample in outcome.samples
        for found in sample.outputs
        if not found.inconclusive
    )
    return _finite(max(shares, default=0.0))
