"""Functions of two numbers, signs of zeros and mantissas against eager."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given, settings
from torch import Tensor

from decomposed import assert_as_eager, numbers, vectors

PAIRS = [
    "aten::atan2",
    "aten::hypot",
    "aten::fmax",
    "aten::heaviside",
    "aten::fmin",
    "aten::logaddexp",
    "aten::remainder.Tensor",
    "aten::floor_divide",
]


def without_nan(x: Tensor) -> Tensor:
    """NaN has a sign in memory that nothing but bits shows."""
    return torch.where(torch.isnan(x), 1.0, x)


@pytest.mark.parametrize("name", PAIRS)
@settings(max_examples=100, deadline=None)
@given(x=vectors(numbers()))
def test_functions_of_two_are_eagers(name: str, x: Tensor) -> None:
    assert_as_eager(name, x, x.flip(0))
    assert_as_eager(name, x, x.roll(1))


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


def test_subnormal_numbers_have_exponents() -> None:
    assert_as_eager("aten::frexp.Tensor", torch.tensor([1e-45, -4.2e-45, 1.8e-43, 1e-38, 0.0]))


@settings(max_examples=60, deadline=None)
@given(x=vectors(numbers()))
def test_logits_and_angles_are_eagers(x: Tensor) -> None:
    assert_as_eager("aten::logit", x, 0.1)
    assert_as_eager("aten::angle", x)
