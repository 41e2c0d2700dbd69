"""Numbers of all magnitudes."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from modelexport_exporter.sampling.magnitudes import near_limits, spread_floats, spread_integers

LONGS = st.integers(-(2**63), 2**63 - 1)


@given(LONGS, LONGS, st.integers(0, 99))
def test_integers_stay_inside(one: int, other: int, seed: int) -> None:
    low, high = sorted((one, other))
    for draw in (spread_integers, near_limits):
        drawn = draw(low, high, (50,), np.random.default_rng(seed))
        assert drawn.dtype == np.int64
        assert all(low <= value <= high for value in drawn.tolist())


def test_integers_are_often_near_the_ends_and_zero() -> None:
    drawn = spread_integers(-50_000, 1_000_000, (10_000,), np.random.default_rng(0))
    for near in (-50_000, 0, 1_000_000):
        assert (np.abs(drawn - near) < 100).mean() > 0.05


def test_limits_of_arithmetic_occur() -> None:
    drawn = set(near_limits(0, 2**60, (2000,), np.random.default_rng(0)).tolist())
    assert {2**24 + 1, 2**31, 2**53 + 1, 0, 2**60} <= drawn


@pytest.mark.parametrize(("low", "high"), [(-1000.0, 1000.0), (5.0, 6.0), (-3.0, 0.0), (0.0, 0.0)])
def test_floats_stay_inside(low: float, high: float) -> None:
    drawn = spread_floats(low, high, (1000,), np.random.default_rng(0))
    assert drawn.min() >= low
    assert drawn.max() <= high


def test_small_floats_of_a_wide_range_are_frequent() -> None:
    drawn = np.abs(spread_floats(-1000.0, 1000.0, (10_000,), np.random.default_rng(0)))
    assert ((drawn > 2) & (drawn < 9)).mean() > 0.05
