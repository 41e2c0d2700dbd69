"""The square root and the polar factors of matrices, against eager."""

from __future__ import annotations

import pytest
import torch

from decomposed import assert_as_eager

A = torch.arange(30.0).square().reshape(2, 5, 3).sin()


def _of_condition(condition: float, dtype: torch.dtype) -> torch.Tensor:
    """Return a symmetric matrix [4, 4] of eigenvalues from 1 / condition to 1."""
    values = torch.logspace(-torch.log10(torch.tensor(condition)).item(), 0, 4, dtype=dtype)
    vectors = torch.linalg.qr(torch.arange(16.0, dtype=dtype).reshape(4, 4).sin())[0]
    matrix: torch.Tensor = (vectors * values) @ vectors.mT
    return matrix


@pytest.mark.parametrize("condition", [1.0, 30.0, 1e6])
@pytest.mark.parametrize("scale", [1e-4, 1.0, 1e5])
def test_roots_are_eagers_up_to_a_condition(condition: float, scale: float) -> None:
    a = _of_condition(condition, torch.float64) * scale
    assert_as_eager("aten::linalg_matrix_sqrth", a)


def test_polar_factors_are_eagers() -> None:
    assert_as_eager("aten::linalg_polar", A)
    assert_as_eager("aten::linalg_polar", A[:, :3].double())
    assert_as_eager("aten::linalg_polar", _of_condition(1e6, torch.float64))


def test_the_root_of_zeros_is_zeros() -> None:
    assert_as_eager("aten::linalg_matrix_sqrth", torch.zeros(3, 3))
