"""Busy seconds that a process claims count as far as so much time has passed."""

from __future__ import annotations

import math

import pytest

from modelexport_exporter.isolation.claimed_time import ClaimedTime


@pytest.mark.parametrize(
    ("claims", "seconds"),
    [
        ([(5.0, 8.0)], 0.0),
        ([(5.0, 8.0), (6.5, 10.0)], 1.5),
        # Runs before the first question are put on its clock when their outputs are used.
        ([(5.0, 8.0), (13.0, 8.1)], 8.0),
        ([(5.0, 8.0), (1000.0, 8.5)], 8.5),
        ([(5.0, 8.0), (1000.0, 8.5), (1001.0, 9.0)], 9.0),
        ([(5.0, 8.0), (1000.0, 8.5), (1e300, 9.0), (1e300, 20.0)], 9.0),
        ([(0.0, 1.0), (1e18, 2.0), (1e18, 3.0)], 2.0),
        ([(1e18, 1.0), (1e18 + 1, 2.0)], 0.0),
        ([(7.0, 1.0), (3.0, 2.0), (7.5, 3.0)], 0.5),
    ],
)
def test_what_is_granted(claims: list[tuple[float, float]], seconds: float) -> None:
    time = ClaimedTime(0.0)
    for claimed, now in claims:
        time.note(claimed, now)
    assert math.isclose(time.seconds, seconds)
