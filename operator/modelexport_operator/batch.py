"""The end of a batch: all shares were processed; count the failures and compare with maxFailed.

A pod reports the counts of its share; only here is the total known. If the pods of a share used
up their attempts, the checkpoints that they published count as succeeded and the rest as failed.
If a finished share's result is lost, that is no failure: the Job runs again, and its pods read
the results from the journals.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from modelexport_api.conditions import (
    ENDS_OF,
    ConditionState,
    after_batch,
    batch_reason,
    end_of,
)
from modelexport_api.items import Items
from modelexport_api.reasons import Reason
from modelexport_api.status import (
    ConditionType,
    Failure,
    ModelExportStatus,
    Phase,
    Progress,
    new_failure,
)
from modelexport_operator import failures, indexed, items, status
from modelexport_operator.items import KnownShares
from modelexport_operator.observe import Observation, ObservedJob
from modelexport_operator.pods import ObservedPod


@dataclass(frozen=True)
class BatchResult:
    """The result of a batch whose shares were all processed."""

    items: Items
    failure: Failure | None
    report_uri: str | None


def is_finished(job: ObservedJob) -> bool:
    """Return whether a batch's Job has finished and processed every share."""
    return job.shares is not None and (
        job.complete or (job.failed_reason == indexed.FAILED_INDEXES and job.stopped is None)
    )


def is_result_lost(seen: Observation, job: ObservedJob) -> bool:
    """Return whether the result of a finished share is missing."""
    reported = items.known_shares(seen.pods).finished | indexed.parse(job.failed_indexes)
    return not reported.issuperset(range(job.shares or 0))


def evaluate(seen: Observation, job: ObservedJob) -> BatchResult | None:
    """Return the result of a batch; None if no pod reported counts."""
    known = items.known_shares(seen.pods)
    lost = indexed.parse(job.failed_indexes)
    counts = items.final_counts(known.shares, lost)
    if counts is None:
        return None
    export = seen.resource.export
    allowed = export.spec.max_failed if export else 0
    report = _report(seen.pods)
    failure = None
    if counts.failed > allowed:
        failure = _too_many_failed(counts, allowed, _describe_example(seen, known, lost), report)
    return BatchResult(counts, failure, report)


def final_status(seen: Observation, result: BatchResult, now: datetime) -> ModelExportStatus:
    """Return the final status of a batch."""
    counts, failure = result.items, result.failure
    scheduled = ConditionState(ConditionType.SCHEDULED, "True", "Scheduled")
    mode, message = status.mode(seen), _describe(counts)
    stages = after_batch(mode, counts, failure, message)
    if failure is None:
        reason = batch_reason(end_of(mode), counts)
        end = ConditionState(ConditionType.COMPLETE, "True", reason, message)
    else:
        end = ConditionState(ConditionType.FAILED, "True", failure.reason, failure.message)
    phase = Phase.SUCCEEDED if failure is None else Phase.FAILED
    return status.assemble(seen, now, phase, [scheduled, *stages, end], failure).model_copy(
        update={
            "items": counts,
            "failure": failure,
            "report_uri": result.report_uri,
            "completion_time": status.end_time(seen, now),
            "progress": Progress(stage=ENDS_OF[end_of(mode)], percent=100, message=message),
        }
    )


def with_items(failed: ModelExportStatus, seen: Observation) -> ModelExportStatus:
    """Add the counts of a batch that failed before all shares were processed."""
    counts = items.sum_shares(items.known_shares(seen.pods).shares)
    stored = seen.resource.status.items
    if counts is None or (
        stored is not None and items.count_processed(stored) > items.count_processed(counts)
    ):
        counts = stored
    if counts is None:
        return failed
    report = failed.report_uri or _report(seen.pods)
    return failed.model_copy(update={"items": items.without_running(counts), "report_uri": report})


def _describe(counts: Items) -> str:
    failed = f"; {items.describe_failures(counts)}" if counts.failed else ""
    where = f": {counts.results_uri}" if counts.results_uri else ""
    return f"{counts.succeeded} of {counts.total} checkpoints succeeded{failed}{where}"


def _too_many_failed(counts: Items, allowed: int, example: str, report: str | None) -> Failure:
    where = f"; all verdicts: {counts.results_uri}" if counts.results_uri else ""
    such = f", for example {example}" if example else ""
    return new_failure(
        Reason.TOO_MANY_FAILED,
        f"{items.describe_failures(counts)} and spec.maxFailed is {allowed}{such}{where}",
        f"read {report or 'the results manifest'} (failures first); published artifacts are kept, "
        "and a new ModelExport does not export them again",
    )


def _describe_example(seen: Observation, known: KnownShares, lost: set[int]) -> str:
    example = next((share.example for share in known.shares.values() if share.example), "")
    if example or not lost:
        return example
    pods = [pod for pod in seen.pods if pod.index in lost and pod.ended]
    if not pods:
        return f"share {min(lost)}, whose pods used up all attempts"
    last = max(pods, key=failures.finished_at)
    return f"share {last.index}, whose last pod ended with: {failures.describe_pod_failure(last)}"


def _report(pods: tuple[ObservedPod, ...]) -> str | None:
    ends = [pod.terminated for pod in pods if pod.terminated and pod.terminated.result]
    uris = [end.result.report_uri for end in ends if end.result and end.result.report_uri]
    return uris[-1] if uris else None
