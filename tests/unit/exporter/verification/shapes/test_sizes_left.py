"""The sizes at which shapes are compared, and their order."""

from __future__ import annotations

import pytest

from modelexport_api.spec import Dim
from modelexport_exporter.core.dims import likely_sizes, middle_of
from modelexport_exporter.verification.shapes.sizes_left import MOST_SIZES, sizes_left
from models.specs import spec


@pytest.mark.parametrize(
    ("low", "high", "middle"), [(1, 512, 257), (1, 2, 2), (0, 1, 1), (3, 3, 3), (32, 512, 256)]
)
def test_middle(low: int, high: int, middle: int) -> None:
    assert middle_of(Dim(min=low, max=high)) == middle


def test_the_likeliest_sizes_come_first() -> None:
    found = likely_sizes(Dim(min=1, max=512), [77])
    assert found[:7] == [77, 78, 76, 1, 512, 257, 256]
    assert {power + step for power in (2, 16, 256) for step in (-1, 0, 1)} <= set(found)
    assert len(found) == len(set(found)) < 40


def test_all_sizes_that_did_not_run_and_equal_ones() -> None:
    left = sizes_left(spec(n=(1, 512), m=(1, 8)), [{"n": 1, "m": 1}, {"n": 512, "m": 8}])
    assert left[:2] == [{"n": 257, "m": left[0]["m"]}, {"n": left[1]["n"], "m": 5}]
    assert {own["n"] for own in left} == set(range(2, 512))
    equal = [own["n"] for own in left if own["n"] == own["m"]]
    assert set(range(2, 9)) <= set(equal)
    assert {"n": 1, "m": 1} not in left


def test_nothing_is_left_where_all_sizes_ran() -> None:
    assert sizes_left(spec(n=(1, 3), m=(2, 2)), [{"n": n, "m": 2} for n in (1, 2, 3)]) == []


def test_bounded() -> None:
    assert len(sizes_left(spec(n=(1, 1_000_000), m=(1, 9)), [{"n": 1, "m": 1}])) == MOST_SIZES
