"""Counts of a batch: the sum of the latest counts of each share."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from modelexport_api.items import Items, ShareCounts
from modelexport_api.status import Progress, Stage
from modelexport_operator import items
from modelexport_operator.pods import ObservedPod
from unit.operator.objects import of_index, result_of, running, share, terminated

KNOWN: list[tuple[str, list[ObservedPod], dict[int, ShareCounts], set[int]]] = [
    ("nothing yet", [of_index(0, running())], {}, set()),
    ("a log", [of_index(0, running(), share(0, 1, running=1))], {0: share(0, 1, running=1)}, set()),
    ("a result", [of_index(1, terminated(0, result_of(share(1, 2))))], {1: share(1, 2)}, {1}),
    (
        "killed in the middle",
        [of_index(0, terminated(137), share(0, 1, running=1))],
        {0: share(0, 1)},
        set(),
    ),
    (
        "the next pod continues from the journal",
        [
            of_index(0, terminated(137), share(0, 1, running=1)),
            of_index(0, running(), share(0, 2, running=1), before=1),
        ],
        {0: share(0, 2, running=1)},
        set(),
    ),
    (
        "the next pod has not reported yet",
        [of_index(0, terminated(75, result_of(share(0, 2)))), of_index(0, running(), before=1)],
        {0: share(0, 2)},
        set(),
    ),
    (
        "a result takes precedence",
        [
            of_index(0, terminated(0, result_of(share(0, 1, failed=1))), before=1),
            of_index(0, terminated(137), share(0, 3)),
        ],
        {0: share(0, 1, failed=1)},
        {0},
    ),
    ("no index", [terminated(0, result_of(share(0, 3)))], {}, set()),
    (
        "a pod that reports another share",
        [of_index(1, terminated(0, result_of(share(0, 3))))],
        {1: share(0, 3)},
        {1},
    ),
]


@pytest.mark.parametrize(
    ("pods", "shares", "finished"), [row[1:] for row in KNOWN], ids=[row[0] for row in KNOWN]
)
def test_known_shares(
    pods: list[ObservedPod], shares: dict[int, ShareCounts], finished: set[int]
) -> None:
    known = items.known_shares(pods)
    assert dict(known.shares) == shares
    assert known.finished == finished


def test_the_counts_of_a_batch_are_the_sum_of_its_shares() -> None:
    assert items.sum_shares({}) is None
    assert items.sum_shares({0: share(0, 1, failed=1, running=1), 1: share(1, 2)}) == Items(
        total=5,
        succeeded=3,
        failed=1,
        running=1,
        reasons={"CheckpointCorrupt": 1},
        results_uri="s3://models/onnx/batches/x/results.json",
    )


ENDED = [
    ("all shares reported", {0: share(0, 3), 1: share(1, 2)}, set(), (5, 0, {})),
    ("abandoned in the middle", {0: share(0, 1), 1: share(1, 2)}, {0}, (3, 2, {"PodKilled": 2})),
    ("abandoned after its end", {0: share(0, 3), 1: share(1, 2)}, {0}, (5, 0, {})),
    ("abandoned without counts", {1: share(1, 2)}, {0}, (2, 3, {"PodKilled": 3})),
    (
        "abandoned, and others failed",
        {0: share(0, 1, failed=1), 1: share(1, 1, failed=1)},
        {0},
        (2, 3, {"CheckpointCorrupt": 2, "PodKilled": 1}),
    ),
]


@pytest.mark.parametrize(
    ("shares", "lost", "wanted"), [row[1:] for row in ENDED], ids=[row[0] for row in ENDED]
)
def test_unprocessed_checkpoints_of_lost_shares_have_failed(
    shares: dict[int, ShareCounts], lost: set[int], wanted: tuple[int, int, dict[str, int]]
) -> None:
    found = items.final_counts(shares, lost)
    assert found is not None
    assert (found.succeeded, found.failed, found.reasons) == wanted
    assert found.running == 0
    assert found.succeeded + found.failed == found.total


@given(st.lists(st.tuples(*[st.integers(0, 50)] * 3), min_size=1, max_size=8), st.data())
def test_final_counts_contain_every_checkpoint_once(
    counts: list[tuple[int, int, int]], data: st.DataObject
) -> None:
    """Shares of any size, some abandoned, some without reported counts."""
    total = sum(map(sum, counts))
    shares = {
        number: ShareCounts(
            share=number, batch_total=total, share_total=sum(entry), succeeded=good, failed=bad
        )
        for number, (good, bad, undone) in enumerate(counts)
        if (entry := (good, bad, undone))
    }
    silent = data.draw(st.sets(st.sampled_from(sorted(shares)), max_size=len(shares) - 1))
    reported = {number: share for number, share in shares.items() if number not in silent}
    found = items.final_counts(reported, range(len(counts)))
    assert found is not None
    assert found.succeeded + found.failed == total
    assert found.succeeded == sum(share.succeeded for share in reported.values())


@pytest.mark.parametrize(
    ("counts", "percent", "message"),
    [
        (Items(total=5, succeeded=2, running=2), 40, "2 of 5 checkpoints done, 2 running"),
        (
            Items(total=5, succeeded=3, failed=2),
            100,
            "5 of 5 checkpoints done, 2 failed, 0 running",
        ),
    ],
)
def test_the_progress_of_a_batch(counts: Items, percent: int, message: str) -> None:
    last = Progress(stage=Stage.VERIFY, percent=10, message="12 samples")
    wanted = Progress(stage=Stage.VERIFY, percent=percent, message=message)
    assert items.batch_progress(counts, last) == wanted
    assert items.batch_progress(Items(total=0), last) == last
    assert items.batch_progress(counts, None) is None


@pytest.mark.parametrize(
    "change",
    [
        {"batch_total": 2**70, "share_total": 2**70},
        {"share_total": 9},
        {"succeeded": 4},
        {"reasons": {"X": 7}},
    ],
)
def test_impossible_counts_are_ignored(change: dict[str, object]) -> None:
    """The model's own code can write to the same log."""
    forged = share(0, 1).model_copy(update=change)
    assert items.is_plausible(share(0, 1))
    assert not items.is_plausible(forged)
    assert not items.known_shares([of_index(0, terminated(0, result_of(forged)))]).shares
