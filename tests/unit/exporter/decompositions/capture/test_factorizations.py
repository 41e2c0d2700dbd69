"""Factors and determinants of large matrices against eager."""

from __future__ import annotations

import pytest
import torch

from decomposed import assert_same
from modelexport_exporter.decompositions.capture.factorizations import (
    cholesky,
    linalg_cholesky,
    linalg_cholesky_ex,
    linalg_det,
    linalg_slogdet,
    logdet,
)

G = torch.Generator().manual_seed(1)
ROWS = torch.randn(2, 40, 50, generator=G)
LARGE = ROWS @ ROWS.mT + torch.eye(40)


@pytest.mark.parametrize("upper", [False, True])
@pytest.mark.parametrize("a", [LARGE, LARGE[0].double()], ids=["float32", "float64"])
def test_the_factor_is_eagers(a: torch.Tensor, upper: bool) -> None:
    want = torch.linalg.cholesky(a, upper=upper)
    assert_same(want, linalg_cholesky(a, upper=upper), 1e-5)
    found = linalg_cholesky_ex(a, upper=upper)
    assert_same(want, found.L, 1e-5)
    assert found.info.tolist() == torch.linalg.cholesky_ex(a).info.tolist()


def test_an_indefinite_matrix_has_no_numbers() -> None:
    assert cholesky(-LARGE, upper=False).isnan().any()


def test_small_matrices_are_left_to_the_decomposition() -> None:
    assert linalg_cholesky(LARGE[:, :32, :32]) is NotImplemented
    assert linalg_slogdet(LARGE[:, :32, :32]) is NotImplemented
    assert logdet(LARGE[0, :32, :32]) is NotImplemented
    assert linalg_det(LARGE) is NotImplemented  # onnxruntime has a kernel for float32


SHUFFLED = torch.randn(3, 33, 33, generator=G)


def test_determinants_are_eagers() -> None:
    for one, other in zip(linalg_slogdet(SHUFFLED), torch.linalg.slogdet(SHUFFLED), strict=True):
        assert_same(other, one, 1e-5)
    assert_same(torch.linalg.det(SHUFFLED.double()), linalg_det(SHUFFLED.double()), 1e-9)
    assert_same(torch.logdet(SHUFFLED), logdet(SHUFFLED), 1e-5)


def test_a_singular_matrix_has_the_determinant_0() -> None:
    singular = torch.ones(40, 40, dtype=torch.float64)
    assert linalg_det(singular) == 0
    assert linalg_slogdet(singular).logabsdet == -torch.inf
