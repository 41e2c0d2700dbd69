"""The result of one checkpoint of a batch, as in journals and results.json. Pure."""

from __future__ import annotations

import math
from typing import Literal

from modelexport_api.base import ApiModel
from modelexport_api.pod import PodResult
from modelexport_api.reasons import Reason
from modelexport_api.status import Failure, Stage, Verdict
from modelexport_exporter.batch.plan import PlanItem
from modelexport_exporter.core import place


class ItemResult(ApiModel):
    """One checkpoint with its verdict, or the reason of its failure."""

    index: int
    name: str
    uri: str
    destination: str
    outcome: Literal["Succeeded", "Failed", "Pending"]
    """Pending: the batch ended before this checkpoint was tried."""
    artifact_uri: str | None = None
    sha256: str | None = None
    """Of the ONNX file."""
    size_bytes: int | None = None
    verdict: Verdict | None = None
    provider: str | None = None
    max_rel_error: float | str | None = None
    limit_share: float | str | None = None
    """The largest error as a share of its limit; 1 is the limit."""
    seconds: float | None = None
    reused: bool = False
    """The artifact of an earlier run was up to date."""
    attempts: int = 0
    reason: Reason | None = None
    stage: Stage | None = None
    message: str = ""
    hint: str = ""
    report_uri: str | None = None


def pending_result(item: PlanItem) -> ItemResult:
    """Return the result of a checkpoint that was not tried."""
    return ItemResult(
        index=item.index,
        name=item.name,
        uri=item.uri,
        destination=item.destination,
        outcome="Pending",
    )


def finished_result(item: PlanItem, result: PodResult, seconds: float, attempts: int) -> ItemResult:
    """Return the result of a checkpoint that was tried."""
    artifact, proof, failure = result.artifact, result.verification, result.failure
    return ItemResult(
        index=item.index,
        name=item.name,
        uri=item.uri,
        destination=item.destination,
        outcome="Failed" if failure else "Succeeded",
        artifact_uri=artifact.uri if artifact and not failure else None,
        sha256=artifact.sha256 if artifact and not failure else None,
        size_bytes=artifact.size_bytes if artifact and not failure else None,
        verdict=proof.verdict if proof else None,
        provider=proof.provider if proof else None,
        max_rel_error=_figure(proof.max_rel_error) if proof else None,
        limit_share=_figure(proof.limit_share) if proof else None,
        seconds=round(seconds, 2),
        reused=result.reused,
        attempts=attempts,
        reason=failure.reason if failure else None,
        stage=failure.stage if failure else None,
        message=failure.message if failure else "",
        hint=failure.hint if failure else "",
        report_uri=result.report_uri,
    )


def killed_result(item: PlanItem, times: int) -> ItemResult:
    """Return the result of a checkpoint during which several pods were killed."""
    failure = Failure(
        reason=Reason.POD_KILLED,
        message=f"the process was killed {times} times during this checkpoint; it is skipped, so "
        "that the others are exported",
        hint=f"The usual cause is memory. {place.more_memory()} Export this checkpoint alone.",
    )
    return finished_result(item, PodResult(outcome="Failed", failure=failure), 0.0, times)


def badness(result: ItemResult) -> tuple[int, float, int]:
    """Return a key that sorts the worst first: failed, never tried, then by the error."""
    rank = {"Failed": 0, "Pending": 1, "Succeeded": 2}[result.outcome]
    share = math.inf if result.limit_share is None else float(result.limit_share)
    return rank, -share if math.isfinite(share) else -math.inf, result.index


def _figure(value: float | None) -> float | str | None:
    """Return a number that JSON can represent, or its name."""
    return value if value is None or math.isfinite(value) else str(value)
