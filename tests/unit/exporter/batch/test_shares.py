"""Which pod does what: even, and the same every time."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from modelexport_exporter.batch.shares import EACH_COSTS, share_out

GB = 10**9


def test_the_largest_first_to_the_share_that_has_least() -> None:
    assert share_out([1 * GB, 5 * GB, 3 * GB, 1 * GB, 2 * GB], 2) == [0, 0, 1, 1, 1]


def test_small_files_cost_something_too() -> None:
    chosen = share_out([GB] + [1000] * 1000, 2)
    assert 450 < sum(chosen) < 550, "neither pod gets a thousand"


def test_more_pods_than_checkpoints() -> None:
    assert sorted(share_out([1, 1], 4)) == [0, 1]


@given(st.lists(st.integers(0, 10**12), max_size=60), st.integers(1, 9))
def test_no_share_is_worse_than_graham_proved(sizes: list[int], shares: int) -> None:
    chosen = share_out(sizes, shares)
    assert share_out(list(sizes), shares) == chosen
    costs = [size + EACH_COSTS for size in sizes]
    loads = [0] * shares
    for cost, share in zip(costs, chosen, strict=True):
        loads[share] += cost
    if costs:
        best = max(sum(costs) / shares, *costs)
        assert max(loads) <= best * (2 - 1 / shares) + 1
