"""Reductions against eager."""

from __future__ import annotations

import pytest
import torch

from decomposed import assert_as_eager

FLAGS = torch.tensor([[True, False, False], [False, False, False], [True, True, False]])
NUMBERS = torch.tensor([[3, -7, 0], [2, 2, -1]])
X = torch.randn(2, 3, 8, 7, generator=torch.Generator().manual_seed(1))


@pytest.mark.parametrize("keepdim", [False, True])
@pytest.mark.parametrize("x", [NUMBERS, FLAGS, NUMBERS / 2, torch.tensor(1.5)])
def test_extremes_of_everything_are_eagers(x: torch.Tensor, keepdim: bool) -> None:
    assert_as_eager("aten::amax", x, [], keepdim)
    assert_as_eager("aten::amin", x, [], keepdim)
    assert_as_eager("aten::amax", x)


@pytest.mark.parametrize("order", [2, 1, 0, float("inf"), -1.5])
def test_norms_that_keep_every_dim_are_eagers(order: float) -> None:
    for dtype in (None, torch.float64):
        assert_as_eager("aten::linalg_vector_norm", X, order, None, True, dtype=dtype)


def test_both_extremes_are_eagers() -> None:
    assert_as_eager("aten::aminmax", X, dim=1, keepdim=True)
    assert_as_eager("aten::aminmax", X)
    for keepdim in (False, True):
        assert_as_eager("aten::aminmax", torch.tensor(2.5), dim=0, keepdim=keepdim)


@pytest.mark.parametrize("order", [2, 1.2, 0, float("inf")])
def test_the_norm_of_a_number_is_eagers(order: float) -> None:
    for keepdim in (False, True):
        assert_as_eager("aten::linalg_vector_norm", torch.tensor(-1.7), order, [0], keepdim)


def test_the_largest_of_one_number_is_itself() -> None:
    for x in (torch.tensor(-1.7), torch.tensor(3)):
        assert_as_eager("aten::topk", x, 1, -1, False)


def test_products_of_a_number_are_eagers() -> None:
    assert_as_eager("aten::prod.dim_int", torch.tensor(3), 0, True)
