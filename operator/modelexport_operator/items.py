"""How far a batch is: what its pods tell of their shares, summed.

Of each share the best that is known counts: what the pod that finished it said, or else the one
that came farthest, since a pod that follows goes on where the journal ends. A share's number is
the index that Kubernetes gave the pod, never what the pod says. The model's own code can write
to the same log; numbers that no batch can have are passed over.
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
class Known:
    """What is known of the shares of a batch."""

    shares: Shares
    finished: frozenset[int]
    """Shares whose pod ended well and told a result."""


def known(pods: Iterable[ObservedPod]) -> Known:
    """Return the best that is known of each share."""
    shares: dict[int, ShareCounts] = {}
    finished: set[int] = set()
    for pod in pods:
        told = _told(pod)
        if pod.index is None or told is None or pod.index in finished:
            continue
        if pod.terminated is not None and pod.terminated.exit_code == 0:
            finished.add(pod.index)
            shares[pod.index] = told
        else:
            shares[pod.index] = farther(shares.get(pod.index), told)
    return Known(shares, frozenset(finished))


def farther(first: ShareCounts | None, second: ShareCounts) -> ShareCounts:
    """Return the counts of a share that came farther; of two the same, the second."""
    return first if first is not None and done(first) > done(second) else second


def done(counts: ShareCounts | Items) -> int:
    """Return how many checkpoints are dealt with."""
    return counts.succeeded + counts.failed


def summed(shares: Shares) -> Items | None:
    """Return the counts of the whole batch, None while nothing is known of it."""
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


def ended(shares: Shares, lost: Iterable[int]) -> Items | None:
    """Return the counts at the end. What the pods of the `lost` shares left undone has failed."""
    items = summed(shares)
    if items is None:
        return None
    undone, lost = 0, set(lost)
    for number in lost & set(shares):
        undone += max(0, shares[number].share_total - done(shares[number]))
    if lost - set(shares):
        undone += max(0, items.total - sum(share.share_total for share in shares.values()))
    reasons = Counter(items.reasons)
    if undone:
        reasons[Reason.POD_KILLED] += undone
    update = {"failed": items.failed + undone, "running": 0, "reasons": dict(reasons)}
    return items.model_copy(update=update)


def at_rest(items: Items) -> Items:
    """Return the counts of a batch that nobody works on."""
    return items.model_copy(update={"running": 0})


def progress(items: Items, last: Progress | None) -> Progress | None:
    """Return the progress of the whole batch; the stage is the last that any pod told."""
    if last is None or items.total == 0:
        return last
    failed = f", {items.failed} failed" if items.failed else ""
    message = f"{done(items)} of {items.total} checkpoints done{failed}, {items.running} in work"
    percent = min(100, 100 * done(items) // items.total)
    return Progress(stage=last.stage, percent=percent, message=message)


def told_failures(items: Items) -> str:
    """Return why checkpoints failed, as people read it."""
    reasons = sorted(items.reasons.items(), key=lambda entry: (-entry[1], entry[0]))
    counts = ", ".join(f"{reason} {count}" for reason, count in reasons)
    return f"{items.failed} of {items.total} checkpoints failed" + (
        f" ({counts})" if counts else ""
    )


def plausible(share: ShareCounts | None) -> bool:
    """Tell whether a batch can have these counts."""
    return (
        share is not None
        and done(share) + share.running <= share.share_total <= share.batch_total <= _MOST_ITEMS
        and sum(share.reasons.values()) <= share.failed
    )


def _told(pod: ObservedPod) -> ShareCounts | None:
    end = pod.terminated
    told = end.result.share if end is not None and end.result is not None else None
    told = told or pod.log.share
    if told is None or not plausible(told):
        return None
    return told if pod.running else told.model_copy(update={"running": 0})
