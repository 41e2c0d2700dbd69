"""Signs, remainders, divisors and booleans against eager."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from decomposed import assert_as_eager, numbers, vectors

PAIRS = [
    "aten::atan2",
    "aten::hypot",
    "aten::fmax",
    "aten::fmin",
    "aten::logaddexp",
    "aten::remainder.Tensor",
    "aten::floor_divide",
]


@pytest.mark.parametrize("name", PAIRS)
@settings(max_examples=100, deadline=None)
@given(x=vectors(numbers()))
def test_functions_of_two_are_eagers(name: str, x: Tensor) -> None:
    assert_as_eager(name, x, x.flip(0))
    assert_as_eager(name, x, x.roll(1))


def without_nan(x: Tensor) -> Tensor:
    """NaN has a sign in memory that nothing but bits shows."""
    return torch.where(torch.isnan(x), 1.0, x)


@settings(max_examples=60, deadline=None)
@given(x=vectors(numbers()))
def test_signs_are_eagers_for_zeros_too(x: Tensor) -> None:
    x = without_nan(x)
    assert_as_eager("aten::signbit", x)
    assert_as_eager("aten::copysign.Tensor", x, x.flip(0))
    assert_as_eager("aten::copysign.Tensor", x.int().clamp(-5, 5), x.flip(0))
    assert_as_eager("aten::copysign.Scalar", x, -0.0)


@settings(max_examples=60, deadline=None)
@given(x=vectors(numbers(-(2.0**99), 2.0**99)))
def test_mantissas_and_exponents_are_eagers(x: Tensor) -> None:
    assert_as_eager("aten::frexp.Tensor", torch.where(x.isfinite(), x, 3.0))


@pytest.mark.parametrize(("x", "y"), [(1.0, 0.1), (-1.0, 0.1), (6.0, -0.3), (0.3, 0.1)])
def test_a_quotient_that_meets_a_whole_number_is_eagers(x: float, y: float) -> None:
    down: dict[str, Any] = {"rounding_mode": "floor"}
    assert_as_eager("aten::remainder.Scalar", torch.tensor([x]), y)
    assert_as_eager("aten::remainder.Scalar_Tensor", x, torch.tensor([y]))
    assert_as_eager("aten::div.Tensor_mode", torch.tensor(x), torch.tensor(y), **down)
    assert_as_eager("aten::div.Scalar_mode", torch.tensor(x), y, **down)


@pytest.mark.parametrize("dtype", [torch.int8, torch.int32, torch.int64])
@settings(max_examples=60, deadline=None)
@given(
    x=st.lists(st.integers(-120, 120), min_size=1, max_size=8),
)
def test_divisors_are_eagers(dtype: torch.dtype, x: list[int]) -> None:
    a = torch.tensor(x, dtype=dtype)
    assert_as_eager("aten::gcd", a, a.flip(0))
    if dtype != torch.int8:
        assert_as_eager("aten::lcm", a, a.flip(0))


def test_large_neighbours_of_fibonacci_have_their_divisor() -> None:
    large, before = 7540113804746346429, 4660046610375530309
    assert_as_eager("aten::gcd", torch.tensor([large]), torch.tensor([before]))


@pytest.mark.parametrize("function", ["floor", "ceil", "trunc", "round", "relu"])
def test_integers_stay_what_they_are(function: str) -> None:
    assert_as_eager(f"aten::{function}", torch.tensor([-3, 0, 4]))


@pytest.mark.parametrize("name", ["aten::__lshift__.Tensor", "aten::__rshift__.Tensor"])
def test_shifts_are_eagers(name: str) -> None:
    assert_as_eager(name, torch.tensor([-9, 5, 64]), torch.tensor([1, 0, 3]))


def test_booleans_are_combined_as_eager_does() -> None:
    p, q = torch.tensor([True, True, False, False]), torch.tensor([True, False, True, False])
    assert_as_eager("aten::add.Tensor", p, q)
    assert_as_eager("aten::where.self", p, q, ~q)
    assert_as_eager("aten::masked_fill.Scalar", p, q, 1)
    assert_as_eager("aten::masked_fill.Scalar", p, q, 0)
