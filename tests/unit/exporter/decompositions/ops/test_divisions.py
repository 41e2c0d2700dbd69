"""Quotients, remainders, divisors and shifts against eager."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from decomposed import assert_as_eager


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


@pytest.mark.parametrize("name", ["aten::__lshift__.Tensor", "aten::__rshift__.Tensor"])
def test_shifts_are_eagers(name: str) -> None:
    assert_as_eager(name, torch.tensor([-9, 5, 64]), torch.tensor([1, 0, 3]))
