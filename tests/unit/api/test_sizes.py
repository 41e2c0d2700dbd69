"""Sizes that follow from a dim."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from modelexport_api.sizes import FORM, DimExpression, dim_of, is_derived, size_at


@pytest.mark.parametrize(
    ("text", "expected", "at_five"),
    [
        ("n", DimExpression("n"), 5),
        ("n - 1", DimExpression("n", 1, -1), 4),
        ("n-1", DimExpression("n", 1, -1), 4),
        ("seq_len + 12", DimExpression("seq_len", 1, 12), 17),
        ("2 * n", DimExpression("n", 2), 10),
        ("3*n - 2", DimExpression("n", 3, -2), 13),
    ],
)
def test_what_is_written(text: str, expected: DimExpression, at_five: int) -> None:
    assert re.fullmatch(FORM, text)
    assert DimExpression.parse(text) == expected
    assert size_at(text, {expected.dim: 5}) == at_five
    assert dim_of(text) == expected.dim
    assert is_derived(text) == (text != "n")


@pytest.mark.parametrize(
    "text", ["", "n - m", "n // 2", "1", "-n", "n - 0", "0 * n", "n  - 1", "n*2"]
)
def test_what_is_no_size(text: str) -> None:
    assert not re.fullmatch(FORM, text)


def test_numbers_are_what_they_are() -> None:
    assert size_at(7, {}) == 7
    assert not is_derived(7)


@given(st.integers(1, 9), st.integers(-9, 9), st.integers(0, 99))
def test_the_dim_is_found_again(factor: int, offset: int, size: int) -> None:
    expression = DimExpression("n", factor, offset)
    assert expression.dim_at(expression.at(size)) == size
    assert factor == 1 or expression.dim_at(expression.at(size) + 1) is None


@pytest.mark.parametrize(
    ("own", "other", "expected"),
    [
        ("n", "s", "n"),
        ("n", "s + 1", "n - 1"),
        ("2 * n + 1", "2 * s + 3", "n - 1"),
        ("4 * n", "2 * s", "2 * n"),
        ("n", "2 * s", None),
        ("2 * n + 1", "2 * s", None),
    ],
)
def test_what_another_symbol_is(own: str, other: str, expected: str | None) -> None:
    found = DimExpression.parse(own).solved_for(DimExpression.parse(other))
    assert (found and str(found)) == expected
