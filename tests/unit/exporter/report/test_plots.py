from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from modelexport_exporter.report.plots import (
    BEYOND_LANE,
    NONE_LANE,
    Point,
    Shape,
    axis_of,
    share_of_largest,
    strip,
)

RATIOS = st.floats(min_value=0, allow_nan=False)


@pytest.mark.parametrize(
    ("ratios", "labels"),
    [
        pytest.param([], ["0", "1/1000", "1/100", "1/10", "limit", "10×", "∞"], id="nothing"),
        pytest.param([2e-9], ["0", "1/10⁸", "1/10⁶", "1/10⁴", "1/100", "limit", "∞"], id="small"),
        pytest.param([5e5], ["0", "1/100", "limit", "100×", "10⁴×", "10⁶×", "∞"], id="large"),
    ],
)
def test_an_axis_has_few_labels_and_always_the_limit(
    ratios: list[float], labels: list[str]
) -> None:
    assert [tick.label for tick in axis_of(ratios).ticks] == labels


def test_what_no_tolerance_covers_and_no_error_have_lanes_of_their_own() -> None:
    axis = axis_of([1e-3, 10.0])
    assert axis.place(0.0) == NONE_LANE
    assert axis.place(math.inf) == BEYOND_LANE
    assert axis.place(math.nan) == BEYOND_LANE
    assert NONE_LANE < axis.place(1e-300) < axis.place(1e300) < BEYOND_LANE


@given(st.lists(RATIOS, max_size=20), RATIOS, RATIOS)
def test_a_larger_error_is_never_to_the_left(others: list[float], one: float, two: float) -> None:
    axis = axis_of([*others, one, two])
    small, large = sorted((one, two))
    assert 0 <= axis.place(small) <= axis.place(large) <= 100


@given(st.lists(RATIOS, min_size=1, max_size=20))
def test_the_limit_divides_what_agrees_from_what_does_not(ratios: list[float]) -> None:
    axis = axis_of(ratios)
    for ratio in ratios:
        assert (axis.place(ratio) <= axis.limit) or ratio > 1
        assert (axis.place(ratio) >= axis.limit) or ratio < 1


def test_marks_of_a_strip_do_not_hide_each_other() -> None:
    points = [Point(0.1, Shape.AGREES, f"sample {index}") for index in range(16)]
    drawn = strip(axis_of([0.1]), points, "title", "description")
    assert len({mark.y for mark in drawn.marks}) == 16
    assert all(0 < mark.y < drawn.height for mark in drawn.marks)
    assert drawn.noise is None


def test_the_noise_of_a_strip_is_its_largest() -> None:
    points = [Point(0.1, Shape.AGREES, "", noise) for noise in (None, 0.01, 0.2, 0.0)]
    axis = axis_of([0.1])
    assert strip(axis, points, "", "").noise == axis.place(0.2)


@pytest.mark.parametrize(
    ("values", "widths"),
    [([], []), ([0.0, 0.0], [0.0, 0.0]), ([1, 2], [50.0, 100.0]), ([1, 1e6, 0], [0.5, 100.0, 0])],
)
def test_bars(values: list[float], widths: list[float]) -> None:
    assert share_of_largest(values) == widths
