"""The range of integers that is found for functions that accept some."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from modelexport_exporter.inference.largest import LIMIT, UNLIMITED, accepted_range


@given(st.integers(min_value=2, max_value=LIMIT - 1))
def test_the_last_row_of_a_table_is_found(last: int) -> None:
    low, high, source = accepted_range(lambda number: number <= last)
    assert (low, high) == (0, last)
    assert source == f"{last} was accepted, {last + 1} was refused"


@pytest.mark.parametrize(("last", "expected"), [(0, (0, 0)), (1, (0, 1))])
def test_small_tables(last: int, expected: tuple[int, int]) -> None:
    assert accepted_range(lambda number: number <= last)[:2] == expected


def test_a_range_may_begin_at_one() -> None:
    assert accepted_range(lambda number: 1 <= number <= 12)[:2] == (1, 12)


def test_numbers_that_are_no_index_have_no_limit() -> None:
    assert accepted_range(lambda _: True) == (0, UNLIMITED, "every integer was accepted")


@pytest.mark.parametrize(("largest", "high"), [(127, 127), (255, 255), (32767, UNLIMITED)])
def test_numbers_beyond_the_dtype_are_not_tried(largest: int, high: int) -> None:
    tried = set()

    def takes(number: int) -> bool:
        tried.add(number)
        return True

    assert accepted_range(takes, largest)[:2] == (0, high)
    assert max(tried) == largest
    assert accepted_range(lambda number: number <= 12, largest)[:2] == (0, 12)
