from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from modelexport_exporter.verification.samples.budget import (
    Admission,
    Cost,
    Room,
    admit,
    estimate_seconds,
)

GB = 10**9
PLENTY = Room(seconds=30.0, free_bytes=100 * GB)
MINIMUM = Cost(volume=2, seconds=0.3, peak_bytes=1 * GB)
LONG = Cost(volume=1024, seconds=1.3, peak_bytes=2 * GB)


@pytest.mark.parametrize(
    ("costs", "volume", "room", "expected"),
    [
        pytest.param([], 10**12, Room(0.0, 0), (True, ""), id="the first sample always runs"),
        pytest.param(
            [Cost(64, 99.0, GB)], 64, Room(-5.0, 0), (True, ""), id="so does another of its size"
        ),
        pytest.param(
            [MINIMUM], 322, PLENTY, (True, ""), id="start-up does not grow with the volume"
        ),
        pytest.param(
            [Cost(100, 10.5, GB)], 800, PLENTY, (False, "about 80 s, 30 s are left of 30 s"),
            id="seconds do grow",
        ),
        pytest.param([MINIMUM, LONG], 16384, PLENTY, (True, ""), id="16 s of 30"),
        pytest.param(
            [MINIMUM, LONG], 65536, PLENTY, (False, "about 64 s, 30 s are left"), id="64 s of 30"
        ),
        pytest.param(
            [MINIMUM, LONG], 16384, Room(30.0, 10 * GB), (False, "16.0 GB of memory, 10.0 free"),
            id="memory",
        ),
        pytest.param(
            [MINIMUM, LONG], 16384, Room(1.0, 15 * GB), (False, "about 16 s, 1 s are left"),
            id="both: the scarcer one is reported",
        ),
        pytest.param(
            [MINIMUM, Cost(128, 5.0, GB), LONG], 16384, PLENTY, (True, ""),
            id="a hiccup of a small sample does not count",
        ),
        pytest.param(
            [MINIMUM, LONG, Cost(1024, 9.0, GB)], 16384, PLENTY, (True, ""),
            id="of one size the fastest counts",
        ),
    ],
)  # fmt: skip
def test_admission(costs: list[Cost], volume: int, room: Room, expected: tuple[bool, str]) -> None:
    decision = admit(costs, volume, room)
    assert decision.fits is expected[0]
    assert expected[1] in decision.why
    assert bool(decision.why) is not decision.fits


COSTS = st.builds(
    Cost,
    volume=st.integers(0, 10**6),
    seconds=st.floats(0.001, 100),
    peak_bytes=st.integers(0, 10**12),
)


@given(st.lists(COSTS, min_size=1, max_size=5), st.integers(1, 10**8), st.floats(0, 60))
def test_shrunk_sample_fits_unless_all_cost_is_start_up(
    costs: list[Cost], volume: int, seconds: float
) -> None:
    room = Room(seconds, 10 * GB)
    decision: Admission = admit(costs, volume, room)
    if decision.fits:
        return
    assert 0 <= decision.factor < 1
    smaller = int(volume * decision.factor)
    assert estimate_seconds(costs, smaller) <= seconds + estimate_seconds(costs, 0) + 1e-6


@given(st.lists(COSTS, min_size=1, max_size=5), st.integers(1, 10**6), st.integers(1, 10**6))
def test_larger_samples_are_never_easier(costs: list[Cost], one: int, two: int) -> None:
    small, large = sorted((one, two))
    if admit(costs, large, PLENTY).fits:
        assert admit(costs, small, PLENTY).fits
