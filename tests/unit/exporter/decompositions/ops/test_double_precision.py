"""Functions that onnxruntime has for float32 alone, and activations, against eager."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given, settings
from torch import Tensor

from decomposed import assert_as_eager, numbers, vectors

FUNCTIONS = [
    "aten::erf",
    "aten::erfc",
    "aten::softplus",
    "aten::mish",
    "aten::elu",
    "aten::selu",
    "aten::leaky_relu",
    "aten::hardsigmoid",
    "aten::hardswish",
    "aten::tan",
    "aten::atan",
    "aten::asin",
    "aten::acos",
    "aten::sinh",
    "aten::cosh",
    "aten::asinh",
    "aten::acosh",
    "aten::atanh",
]
CLOSE = 1e-11
"""Relative: torch's own vectorised functions differ from each other by more than a rounding."""


def beside_ones(x: Tensor) -> Tensor:
    """Add numbers near 1 to x: the error is absolute where the result is close to 0."""
    return torch.cat([x.double(), torch.tensor([0.75, 1.75], dtype=torch.float64)])


@pytest.mark.parametrize("name", FUNCTIONS)
@settings(max_examples=100, deadline=None)
@given(x=vectors(numbers(-30, 30)))
def test_a_function_of_doubles_is_eagers(name: str, x: Tensor) -> None:
    assert_as_eager(name, beside_ones(x), rounding=CLOSE)


@settings(max_examples=60, deadline=None)
@given(x=vectors(numbers(0, 8)))
def test_small_results_of_erfc_have_all_their_digits(x: Tensor) -> None:
    for number in x[x.isfinite()].float():
        assert_as_eager("aten::erfc", number[None], rounding=1e-6)


@settings(max_examples=60, deadline=None)
@given(x=vectors(numbers(-30, 30)))
def test_gelu_is_eagers(x: Tensor) -> None:
    x = beside_ones(torch.where(x.isfinite(), x, 1.0))
    assert_as_eager("aten::gelu", x, rounding=CLOSE)
    assert_as_eager("aten::gelu", x, approximate="tanh", rounding=CLOSE)


@settings(max_examples=60, deadline=None)
@given(x=vectors(numbers(-(2.0**99), 2.0**99)))
def test_signs_and_logarithms_of_sigmoids_are_eagers(x: Tensor) -> None:
    for each in (x, x.half()):
        assert_as_eager("aten::log_sigmoid", each)
        assert_as_eager("aten::sign", each)


@settings(max_examples=30, deadline=None)
@given(x=vectors(numbers(-(2.0**99), 2.0**99)))
def test_large_numbers_do_not_overflow(x: Tensor) -> None:
    assert_as_eager("aten::asinh", beside_ones(x), rounding=CLOSE)
    assert_as_eager("aten::acosh", beside_ones(x), rounding=CLOSE)
