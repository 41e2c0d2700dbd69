"""Counts of a batch: of each share the best that is known, summed."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from modelexport_api.items import Items, ShareCounts
from modelexport_api.status import Progress, Stage
from modelexport_operator import items
from modelexport_operator.pods import ObservedPod
from unit.operator.objects import of_index, running, share, terminated, told

KNOWN: list[tuple[str, list[ObservedPod], dict[int, ShareCounts], set[int]]] = [
    ("nothing yet", [of_index(0, running())], {}, set()),
    ("a log", [of_index(0, running(), share(0, 1, running=1))], {0: share(0, 1, running=1)}, set()),
    ("a result", [of_index(1, terminated(0, told(share(1, 2))))], {1: share(1, 2)}, {1}),
    (
        "killed in the middle",
        [of_index(0, terminated(137), share(0, 1, running=1))],
        {0: share(0, 1)},
        set(),
    ),
    (
        "the next pod goes on where the journal ends",
        [
            of_index(0, terminated(137), share(0, 1, running=1)),
            of_index(0, running(), share(0, 2, running=1), before=1),
        ],
        {0: share(0, 2, running=1)},
        set(),
    ),
    (
        "the next pod has not said anything yet",
        [of_index(0, terminated(75, told(share(0, 2)))), of_index(0, running(), before=1)],
        {0: share(0, 2)},
        set(),
    ),
    (
        "a result goes before everything",
        [
            of_index(0, terminated(0, told(share(0, 1, failed=1))), before=1),
            of_index(0, terminated(137), share(0, 3)),
        ],
        {0: share(0, 1, failed=1)},
        {0},
    ),
    ("no index", [terminated(0, told(share(0, 3)))], {}, set()),
    (
        "a share says that it is another",
        [of_index(1, terminated(0, told(share(0, 3))))],
        {1: share(0, 3)},
        {1},
    ),
]


@pytest.mark.parametrize(
    ("pods", "shares", "finished"), [row[1:] for row in KNOWN], ids=[row[0] for row in KNOWN]
)
def test_the_best_that_is_known(
    pods: list[ObservedPod], shares: dict[int, ShareCounts], finished: set[int]
) -> None:
    known = items.known(pods)
    assert dict(known.shares) == shares
    assert known.finished == finished


def test_the_whole_is_the_sum_of_the_shares() -> None:
    assert items.summed({}) is None
    assert items.summed({0: share(0, 1, failed=1, running=1), 1: share(1, 2)}) == Items(
        total=5,
        succeeded=3,
        failed=1,
        running=1,
        reasons={"CheckpointCorrupt": 1},
        results_uri="s3://models/onnx/batches/x/results.json",
    )


ENDED = [
    ("all is told", {0: share(0, 3), 1: share(1, 2)}, set(), (5, 0, {})),
    ("given up in the middle", {0: share(0, 1), 1: share(1, 2)}, {0}, (3, 2, {"PodKilled": 2})),
    ("given up after its end", {0: share(0, 3), 1: share(1, 2)}, {0}, (5, 0, {})),
    ("given up without a word", {1: share(1, 2)}, {0}, (2, 3, {"PodKilled": 3})),
    (
        "given up, and others failed",
        {0: share(0, 1, failed=1), 1: share(1, 1, failed=1)},
        {0},
        (2, 3, {"CheckpointCorrupt": 2, "PodKilled": 1}),
    ),
]


@pytest.mark.parametrize(
    ("shares", "lost", "wanted"), [row[1:] for row in ENDED], ids=[row[0] for row in ENDED]
)
def test_what_is_left_undone_has_failed(
    shares: dict[int, ShareCounts], lost: set[int], wanted: tuple[int, int, dict[str, int]]
) -> None:
    found = items.ended(shares, lost)
    assert found is not None
    assert (found.succeeded, found.failed, found.reasons) == wanted
    assert found.running == 0
    assert found.succeeded + found.failed == found.total


@given(st.lists(st.tuples(*[st.integers(0, 50)] * 3), min_size=1, max_size=8), st.data())
def test_every_checkpoint_counts_once_at_the_end(
    counts: list[tuple[int, int, int]], data: st.DataObject
) -> None:
    """Shares of any size, some of them given up, some without a word."""
    total = sum(map(sum, counts))
    shares = {
        number: ShareCounts(
            share=number, batch_total=total, share_total=sum(entry), succeeded=good, failed=bad
        )
        for number, (good, bad, undone) in enumerate(counts)
        if (entry := (good, bad, undone))
    }
    silent = data.draw(st.sets(st.sampled_from(sorted(shares)), max_size=len(shares) - 1))
    told_of = {number: share for number, share in shares.items() if number not in silent}
    found = items.ended(told_of, range(len(counts)))
    assert found is not None
    assert found.succeeded + found.failed == total
    assert found.succeeded == sum(share.succeeded for share in told_of.values())


@pytest.mark.parametrize(
    ("counts", "percent", "message"),
    [
        (Items(total=5, succeeded=2, running=2), 40, "2 of 5 checkpoints done, 2 in work"),
        (
            Items(total=5, succeeded=3, failed=2),
            100,
            "5 of 5 checkpoints done, 2 failed, 0 in work",
        ),
    ],
)
def test_the_progress_of_a_batch(counts: Items, percent: int, message: str) -> None:
    last = Progress(stage=Stage.VERIFY, percent=10, message="12 samples")
    wanted = Progress(stage=Stage.VERIFY, percent=percent, message=message)
    assert items.progress(counts, last) == wanted
    assert items.progress(Items(total=0), last) == last
    assert items.progress(counts, None) is None


@pytest.mark.parametrize(
    "change",
    [
        {"batch_total": 2**70, "share_total": 2**70},
        {"share_total": 9},
        {"succeeded": 4},
        {"reasons": {"X": 7}},
    ],
)
def test_counts_that_no_batch_can_have_are_passed_over(change: dict[str, object]) -> None:
    """The model's own code can write to the same log."""
    forged = share(0, 1).model_copy(update=change)
    assert items.plausible(share(0, 1))
    assert not items.plausible(forged)
    assert not items.known([of_index(0, terminated(0, told(forged)))]).shares
