"""LAPACK's packed forms against eager: the forms themselves, and what is computed from them."""

from __future__ import annotations

import pytest
import torch

from decomposed import assert_as_eager

G = torch.Generator().manual_seed(1)
SQUARE = torch.randn(2, 5, 5, generator=G)
TALL = torch.randn(2, 6, 3, generator=G)
RIGHT = torch.randn(2, 5, 3, generator=G)
CLOSE = 1e-4


@pytest.mark.parametrize("a", [SQUARE, SQUARE.double(), TALL, TALL.mT])
def test_factors_are_lapacks(a: torch.Tensor) -> None:
    assert_as_eager("aten::linalg_lu_factor", a, rounding=CLOSE)
    assert_as_eager("aten::linalg_lu_factor_ex", a, rounding=CLOSE)
    assert_as_eager("aten::geqrf", a, rounding=CLOSE)
    packed, pivots = torch.linalg.lu_factor(a)
    for flags in ((True, True), (True, False), (False, True)):
        assert_as_eager("aten::lu_unpack", packed, pivots, *flags)


def test_a_singular_matrix_is_reported_at_its_first_zero() -> None:
    singular = torch.tensor([[1.0, 2.0, 3.0], [2.0, 4.0, 6.0], [1.0, 1.0, 1.0]])
    assert_as_eager("aten::linalg_lu_factor_ex", singular)
    assert_as_eager("aten::linalg_lu_factor_ex", torch.zeros(2, 2))


@pytest.mark.parametrize("adjoint", [False, True])
@pytest.mark.parametrize("left", [False, True])
def test_a_system_is_solved_from_either_side(left: bool, adjoint: bool) -> None:
    packed, pivots = torch.linalg.lu_factor(SQUARE)
    b = RIGHT if left else RIGHT.mT
    named = {"left": left, "adjoint": adjoint}
    assert_as_eager("aten::linalg_lu_solve", packed, pivots, b, rounding=CLOSE, **named)
    assert_as_eager("aten::lu_solve", RIGHT, packed, pivots, rounding=CLOSE)


@pytest.mark.parametrize("transpose", [False, True])
@pytest.mark.parametrize("left", [False, True])
def test_reflections_are_multiplied_from_either_side(left: bool, transpose: bool) -> None:
    packed, factors = torch.geqrf(TALL)
    assert_as_eager("aten::linalg_householder_product", packed, factors)
    assert_as_eager("aten::orgqr", packed, factors)
    other = torch.randn(2, 6, 4, generator=torch.Generator().manual_seed(3))
    assert_as_eager("aten::ormqr", packed, factors, other if left else other.mT, left, transpose)
