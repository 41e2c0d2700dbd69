"""How a batch ends: all shares were tried, and as many checkpoints failed as may fail, or more.

A pod answers for its share as a whole, whatever became of each checkpoint; only here is it known
how many failed in all. A share whose pods used up their attempts counts with what it published,
and the rest of it has failed. A share that was finished and whose result is gone is no failure:
the Job is run again, and the journals answer at once.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from modelexport_api.conditions import ENDS_OF, end_of, is_requested
from modelexport_api.items import Items
from modelexport_api.reasons import Reason
from modelexport_api.status import (
    ConditionType,
    Failure,
    ModelExportStatus,
    Phase,
    Progress,
)
from modelexport_operator import failures, indexed, items, status
from modelexport_operator.facts import Fact, failure
from modelexport_operator.items import Known
from modelexport_operator.observe import Observation, ObservedJob
from modelexport_operator.pods import ObservedPod


@dataclass(frozen=True)
class Tried:
    """What became of a batch whose shares were all tried."""

    items: Items
    failure: Failure | None
    report_uri: str | None


def is_tried(job: ObservedJob) -> bool:
    """Tell whether a batch's Job ended by trying every share."""
    return job.shares is not None and (
        job.complete or (job.failed_reason == indexed.FAILED_INDEXES and job.stopped is None)
    )


def is_result_lost(seen: Observation, job: ObservedJob) -> bool:
    """Tell whether the result of a share that was finished cannot be read any more."""
    told = items.known(seen.pods).finished | indexed.parse(job.failed_indexes)
    return not told.issuperset(range(job.shares or 0))


def judge(seen: Observation, job: ObservedJob) -> Tried | None:
    """Return the outcome of a batch whose shares were all tried; None when no pod told a count."""
    known = items.known(seen.pods)
    lost = indexed.parse(job.failed_indexes)
    counts = items.ended(known.shares, lost)
    if counts is None:
        return None
    export = seen.resource.export
    allowed = export.spec.max_failed if export else 0
    report = _report(seen.pods)
    why = None
    if counts.failed > allowed:
        why = _too_many(counts, allowed, _example(seen, known, lost), report)
    return Tried(counts, why, report)


def ended(seen: Observation, tried: Tried, now: datetime) -> ModelExportStatus:
    """Return the final status of a batch."""
    counts, why = tried.items, tried.failure
    facts = [Fact(ConditionType.SCHEDULED, "True", "Scheduled"), *_stages(seen, counts, why)]
    if why is not None:
        facts.append(Fact(ConditionType.FAILED, "True", why.reason, why.message))
    else:
        reason = _reason(end_of(status.mode(seen)), counts)
        facts.append(Fact(ConditionType.COMPLETE, "True", reason, _published(counts)))
    last = ENDS_OF[end_of(status.mode(seen))]
    dealt = Progress(stage=last, percent=100, message=_published(counts))
    phase = Phase.SUCCEEDED if why is None else Phase.FAILED
    return status.assembled(seen, now, phase, facts).model_copy(
        update={
            "items": counts,
            "failure": why,
            "report_uri": tried.report_uri,
            "completion_time": status.end_time(seen, now),
            "progress": dealt,
        }
    )


def cut_short(failed: ModelExportStatus, seen: Observation) -> ModelExportStatus:
    """Return the final status of a failure with what is known of a batch until then."""
    counts = items.summed(items.known(seen.pods).shares)
    stored = seen.resource.status.items
    if counts is None or (stored is not None and items.done(stored) > items.done(counts)):
        counts = stored
    if counts is None:
        return failed
    report = failed.report_uri or _report(seen.pods)
    return failed.model_copy(update={"items": items.at_rest(counts), "report_uri": report})


def _stages(seen: Observation, counts: Items, why: Failure | None) -> list[Fact]:
    found = []
    for kind in ENDS_OF:
        if not is_requested(kind, status.mode(seen)):
            found.append(status.not_requested(kind))
        elif why is None:
            found.append(Fact(kind, "True", _reason(kind, counts), _published(counts)))
        else:
            found.append(Fact(kind, "False", why.reason, _published(counts)))
    return found


def _reason(kind: ConditionType, counts: Items) -> str:
    return f"Partially{kind.value}" if counts.failed else kind.value


def _published(counts: Items) -> str:
    failed = f"; {items.told_failures(counts)}" if counts.failed else ""
    where = f": {counts.results_uri}" if counts.results_uri else ""
    return f"{counts.succeeded} of {counts.total} checkpoints are done{failed}{where}"


def _too_many(counts: Items, allowed: int, example: str, report: str | None) -> Failure:
    where = f"; all verdicts: {counts.results_uri}" if counts.results_uri else ""
    such = f", such as {example}" if example else ""
    return failure(
        Reason.TOO_MANY_FAILED,
        f"{items.told_failures(counts)} and spec.maxFailed is {allowed}{such}{where}",
        f"read {report or 'the results manifest'}, worst on top; what was published stays, and a "
        "new ModelExport finds it",
    )


def _example(seen: Observation, known: Known, lost: set[int]) -> str:
    told = next((share.example for share in known.shares.values() if share.example), "")
    if told or not lost:
        return told
    pods = [pod for pod in seen.pods if pod.index in lost and pod.over]
    if not pods:
        return f"share {min(lost)}, whose pods used up their attempts"
    last = max(pods, key=failures.finished_at)
    return f"share {last.index}, whose last pod ended with: {failures.last_words(last)}"


def _report(pods: tuple[ObservedPod, ...]) -> str | None:
    ends = [pod.terminated for pod in pods if pod.terminated and pod.terminated.result]
    uris = [end.result.report_uri for end in ends if end.result and end.result.report_uri]
    return uris[-1] if uris else None
