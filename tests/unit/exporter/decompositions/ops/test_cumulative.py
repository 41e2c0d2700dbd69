"""Scans and order statistics against eager."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from decomposed import assert_as_eager, matrices, numbers, vectors

NUMBERS = torch.tensor([[3, -7, 0], [2, 2, -1]])


@pytest.mark.parametrize("dtype", [torch.int8, torch.int32, torch.int64])
def test_running_extremes_of_integers_are_eagers(dtype: torch.dtype) -> None:
    ends = torch.tensor([torch.iinfo(dtype).max, torch.iinfo(dtype).min, 0], dtype=dtype)
    for x in (NUMBERS.to(dtype), ends, ends.flip(0)):
        assert_as_eager("aten::cummax", x, -1)
        assert_as_eager("aten::cummin", x, -1)


@pytest.mark.parametrize("dim", [0, 1, -1])
@pytest.mark.parametrize("name", ["aten::cummax", "aten::cummin"])
@settings(max_examples=40, deadline=None)
@given(x=matrices(numbers(-3.0, 3.0)))
def test_running_extremes_and_their_places_are_eagers(name: str, dim: int, x: Tensor) -> None:
    assert_as_eager(name, x, dim)
    assert_as_eager(name, x.nan_to_num(0.0, 5.0, -5.0).to(torch.int32), dim)


@pytest.mark.parametrize("dim", [0, 1, -1])
@settings(max_examples=40, deadline=None)
@given(x=matrices(numbers(-3.0, 3.0)))
def test_running_products_are_eagers(dim: int, x: Tensor) -> None:
    assert_as_eager("aten::cumprod", x, dim)
    assert_as_eager("aten::cumprod", x.nan_to_num(2.0, 3.0, -3.0).to(torch.int32), dim)
    assert_as_eager("aten::cumprod", x, dim, dtype=torch.float64, rounding=1e-6)


@settings(max_examples=60, deadline=None)
@given(x=matrices(numbers(-300.0, 300.0)))
def test_running_logs_of_sums_are_eagers(x: Tensor) -> None:
    assert_as_eager("aten::logcumsumexp", x, 1)


def test_running_logs_of_sums_keep_what_is_small() -> None:
    assert_as_eager("aten::logcumsumexp", torch.tensor([-400.0, -399.0, 400.0]), 0, rounding=1e-6)


@pytest.mark.parametrize("name", ["aten::median.dim", "aten::nanmedian.dim"])
@settings(max_examples=60, deadline=None)
@given(x=st.lists(numbers(), unique=True, min_size=1, max_size=9), keepdim=st.booleans())
def test_medians_of_distinct_values_are_eagers(name: str, x: list[float], keepdim: bool) -> None:
    assert_as_eager(name, torch.tensor([x, x[::-1]]), 1, keepdim)


@pytest.mark.parametrize("name", ["aten::median", "aten::nanmedian"])
@settings(max_examples=60, deadline=None)
@given(x=vectors(numbers()))
def test_medians_of_everything_are_eagers(name: str, x: Tensor) -> None:
    assert_as_eager(name, x)
    assert_as_eager(name, x.nan_to_num(0.0, 5.0, -5.0).to(torch.int64))


@settings(max_examples=60, deadline=None)
@given(x=st.lists(numbers(edges=False), unique=True, min_size=3, max_size=9))
def test_kth_values_are_eagers(x: list[float]) -> None:
    assert_as_eager("aten::kthvalue", torch.tensor([x, x[::-1]]), 3, 1, True)


def test_the_kth_value_beyond_the_numbers_is_nan() -> None:
    assert_as_eager("aten::kthvalue", torch.tensor([1.0, float("nan"), 0.0]), 3)


@settings(max_examples=60, deadline=None)
@given(x=st.lists(st.integers(-2, 2), min_size=1, max_size=9))
def test_modes_are_eagers(x: list[int]) -> None:
    assert_as_eager("aten::mode", torch.tensor(x))
    assert_as_eager("aten::mode", torch.tensor([x, x]).float(), 1, True)
