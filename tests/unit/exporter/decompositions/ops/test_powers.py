"""Powers in every pair of types, against eager."""

from __future__ import annotations

import pytest
import torch

from decomposed import assert_as_eager
from modelexport_exporter.decompositions.library import DECOMPOSITIONS

TYPES = (torch.uint8, torch.int32, torch.int64, torch.float16, torch.float32, torch.float64)


@pytest.mark.parametrize("base", TYPES, ids=str)
@pytest.mark.parametrize("exponent", TYPES, ids=str)
def test_two_tensors(base: torch.dtype, exponent: torch.dtype) -> None:
    x = torch.tensor([0, 1, 2, 3]).to(base)
    assert_as_eager("aten::pow.Tensor_Tensor", x, torch.tensor([2, 3, 1, 4]).to(exponent))


@pytest.mark.parametrize("dtype", TYPES, ids=str)
@pytest.mark.parametrize("number", [2, 0.5], ids=str)
def test_a_number_and_a_tensor(dtype: torch.dtype, number: float) -> None:
    x = torch.tensor([0, 1, 2, 5]).to(dtype)
    assert_as_eager("aten::pow.Tensor_Scalar", x, number)
    assert_as_eager("aten::pow.Scalar", number, x)


@pytest.mark.parametrize(
    ("base", "exponent", "needed"),
    [
        (torch.ones(2), 2, False),
        (torch.ones(2), 0.5, False),
        (torch.ones(2, dtype=torch.int64), 2, False),
        (torch.ones(2, dtype=torch.int64), 0.5, True),
        (torch.ones(2, dtype=torch.uint8), 2, True),
    ],
)
def test_only_where_types_differ(base: torch.Tensor, exponent: float, needed: bool) -> None:
    assert DECOMPOSITIONS["aten::pow.Tensor_Scalar"].applies(base, exponent) is needed
