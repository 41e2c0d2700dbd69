"""Sizes that follow from a dim."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from modelexport_api.sizes import (
    FORM,
    DimExpression,
    dims_of,
    is_derived,
    is_same_size,
    size_at,
)


@pytest.mark.parametrize(
    ("text", "expected", "at_five"),
    [
        ("n", DimExpression("n"), 5),
        ("n - 1", DimExpression("n", 1, -1), 4),
        ("n-1", DimExpression("n", 1, -1), 4),
        ("seq_len + 12", DimExpression("seq_len", 1, 12), 17),
        ("2 * n", DimExpression("n", 2), 10),
        ("3*n - 2", DimExpression("n", 3, -2), 13),
        ("n + n", DimExpression("n", others=("n",)), 10),
    ],
)
def test_what_is_written(text: str, expected: DimExpression, at_five: int) -> None:
    assert re.fullmatch(FORM, text)
    assert DimExpression.parse(text) == expected
    assert size_at(text, {expected.dim: 5}) == at_five
    assert dims_of(text) == (expected.dim,)
    assert is_derived(text) == (text != "n")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "n - m",
        "n + 2 * m",
        "n + 1 + m",
        "n +",
        "+ n",
        "n // 2",
        "1",
        "-n",
        "n - 0",
        "0 * n",
        "n  - 1",
        "n*2",
    ],
)
def test_what_is_no_size(text: str) -> None:
    assert not re.fullmatch(FORM, text)


def test_numbers_are_what_they_are() -> None:
    assert size_at(7, {}) == 7
    assert not is_derived(7)


@given(st.integers(1, 9), st.integers(-9, 9), st.integers(0, 99))
def test_the_dim_is_found_again(factor: int, offset: int, size: int) -> None:
    expression = DimExpression("n", factor, offset)
    found = expression.at({"n": size})
    assert expression.solved_at(found, {}) == ("n", size)
    assert factor == 1 or expression.solved_at(found + 1, {}) is None


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


@given(
    st.integers(1, 9), st.integers(-9, 9), st.lists(st.sampled_from("abc"), min_size=1, max_size=4)
)
def test_a_sum_is_written_and_read(factor: int, offset: int, names: list[str]) -> None:
    expression = DimExpression(names[0], factor, offset, (*names[1:],))
    assert re.fullmatch(FORM, str(expression))
    assert DimExpression.parse(str(expression)) == expression
    sizes = {"a": 3, "b": 5, "c": 7}
    found = expression.at(sizes)
    assert found == factor * sizes[names[0]] + sum(sizes[name] for name in names[1:]) + offset
    for name in names:
        known = {other: size for other, size in sizes.items() if other != name}
        assert expression.solved_at(found, known) == (name, sizes[name])
        left = expression.with_sizes(known)
        assert isinstance(left, DimExpression)
        assert (left.dims, left.at(sizes)) == ((name,), found)
    assert expression.with_sizes(sizes) == found
    assert expression.solved_at(found, sizes) is None


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("p + t", "t+p", True),
        ("p + t + 1", "t + p + 1", True),
        ("2*n", "n + n", True),
        ("p + t", "p", False),
        ("p + t", "p + t - 1", False),
        (7, "7", True),
        ("_d0 // 2", "_d0//2", True),
        ("_d0 // 2", "n", False),
    ],
)
def test_what_is_the_same_size(one: int | str, other: int | str, same: bool) -> None:
    assert is_same_size(one, other) is same
    assert is_same_size(other, one) is same


@pytest.mark.parametrize(
    ("own", "other", "expected"),
    [("p + t", "s", "p + t"), ("p + t", "s + 1", "p + t - 1"), ("p + t", "2 * s", None)],
)
def test_what_a_symbol_for_a_sum_is(own: str, other: str, expected: str | None) -> None:
    found = DimExpression.parse(own).solved_for(DimExpression.parse(other))
    assert (found and str(found)) == expected
