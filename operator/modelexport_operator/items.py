"""The progress of a batch: the sum of the counts that its pods report.

For each share, the counts of the pod that finished it are used, or else those of the pod with the
most processed checkpoints, because a new pod continues from the journal. The number of a share is
the pod's completion index, not a number that the pod reports. The model's own code can write to
the same log, so impossible counts are ignored.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from modelexport_api.items import Items, ShareCounts
from modelexport_api.reasons import Reason
from modelexport_api.status import Progress
from modelexport_operator.pods import ObservedPod

MOST_REASONS = 16
_MOST_ITEMS = 10_000_000

Shares = Mapping[int, ShareCounts]


@dataclass(frozen=True)
class KnownShares:
    """The known counts of a batch's shares."""

    shares: Shares
    finished: frozenset[int]
    """Shares whose pod succeeded and reported a result."""


def known_shares(pods: Iterable[ObservedPod]) -> KnownShares:
    """Return the latest known counts of each share."""
    shares: dict[int, ShareCounts] = {}
    finished: set[int] = set()
    for pod in pods:
        counts = _reported_counts(pod)
        if pod.index is None or counts is None or pod.index in finished:
            continue
        if pod.terminated is not None and pod.terminated.exit_code == 0:
            finished.add(pod.index)
            shares[pod.index] = counts
        else:
            shares[pod.index] = latest_counts(shares.get(pod.index), counts)
    return KnownShares(shares, frozenset(finished))


def latest_counts(first: ShareCounts | None, second: ShareCounts) -> ShareCounts:
    """Return the counts with more processed checkpoints; the second if they are equal."""
    if first is not None and count_processed(first) > count_processed(second):
        return first
    return second


def count_processed(counts: ShareCounts | Items) -> int:
    """Return how many checkpoints succeeded or failed."""
    return counts.succeeded + counts.failed


def sum_shares(shares: Shares) -> Items | None:
    """Return the counts of the whole batch; None while no share is known."""
    if not shares:
        return None
    reasons: Counter[str] = Counter()
    for share in shares.values():
        reasons.update(share.reasons)
    return Items(
        total=max(share.batch_total for share in shares.values()),
        succeeded=sum(share.succeeded for share in shares.values()),
        failed=sum(share.failed for share in shares.values()),
        running=sum(share.running for share in shares.values()),
        reasons=dict(reasons.most_common(MOST_REASONS)),
        results_uri=next((s.results_uri for s in shares.values() if s.results_uri), None),
    )


def final_counts(shares: Shares, lost: Iterable[int]) -> Items | None:
    """Return the final counts: checkpoints that `lost` shares did not process have failed."""
    items = sum_shares(shares)
    if items is None:
        return None
    unprocessed, lost = 0, set(lost)
    for number in lost & set(shares):
        unprocessed += max(0, shares[number].share_total - count_processed(shares[number]))
    if lost - set(shares):
        unprocessed += max(0, items.total - sum(share.share_total for share in shares.values()))
    reasons = Counter(items.reasons)
    if unprocessed:
        reasons[Reason.POD_KILLED] += unprocessed
    update = {"failed": items.failed + unprocessed, "running": 0, "reasons": dict(reasons)}
    return items.model_copy(update=update)


def without_running(items: Items) -> Items:
    """Return the counts of a batch without running pods."""
    return items.model_copy(update={"running": 0})


def batch_progress(items: Items, last: Progress | None) -> Progress | None:
    """Return the progress of the whole batch; the stage is the last that a pod reported."""
    if last is None or items.total == 0:
        return last
    failed = f", {items.failed} failed" if items.failed else ""
    processed = count_processed(items)
    message = f"{processed} of {items.total} checkpoints done{failed}, {items.running} running"
    percent = min(100, 100 * processed // items.total)
    return Progress(stage=last.stage, percent=percent, message=message)


def describe_failures(items: Items) -> str:
    """Return how many checkpoints failed and why, as text."""
    reasons = sorted(items.reasons.items(), key=lambda entry: (-entry[1], entry[0]))
    counts = ", ".join(f"{reason} {count}" for reason, count in reasons)
    return f"{items.failed} of {items.total} checkpoints failed" + (
        f" ({counts})" if counts else ""
    )


def is_plausible(share: ShareCounts | None) -> bool:
    """Return whether the counts are possible."""
    return (
        share is not None
        and count_processed(share) + share.running
        <= share.share_total
        <= share.batch_total
        <= _MOST_ITEMS
        and sum(share.reasons.values()) <= share.failed
    )


def _reported_counts(pod: ObservedPod) -> ShareCounts | None:
    end = pod.terminated
    counts = end.result.share if end is not None and end.result is not None else None
    counts = counts or pod.log.share
    if counts is None or not is_plausible(counts):
        return None
    return counts if pod.running else counts.model_copy(update={"running": 0})
