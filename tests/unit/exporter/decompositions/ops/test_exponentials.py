"""expm1, log1p and logarithms, element by element: most of all where x is small."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from decomposed import assert_as_eager, numbers, vectors
from modelexport_exporter.decompositions.library import DECOMPOSITIONS

DIGITS = {torch.float32: 1e-6, torch.float64: 2e-15}


@pytest.mark.parametrize("name", ["expm1", "log1p", "log2", "log10"])
@given(x=vectors(numbers()))
def test_values_are_eagers(name: str, x: Tensor) -> None:
    assert_as_eager(f"aten::{name}", x)


@pytest.mark.parametrize("name", ["expm1", "log1p"])
@pytest.mark.parametrize("dtype", DIGITS, ids=str)
@given(exponent=st.floats(-30.0, 0.0), sign=st.sampled_from([-0.9, 0.9]))
def test_small_values_keep_their_digits(
    name: str, dtype: torch.dtype, exponent: float, sign: float
) -> None:
    x = torch.tensor([sign * 10**exponent], dtype=dtype)
    found = DECOMPOSITIONS[f"aten::{name}"].function(x)
    want = getattr(torch, name)(x)
    assert ((found - want) / want).abs().item() < DIGITS[dtype]


@pytest.mark.parametrize("dtype", [torch.int64, torch.bool, torch.float16])
@pytest.mark.parametrize("name", ["expm1", "log1p", "log2", "log10"])
def test_other_dtypes_become_what_eager_makes_of_them(name: str, dtype: torch.dtype) -> None:
    assert_as_eager(f"aten::{name}", torch.tensor([0, 1, 1]).to(dtype))
