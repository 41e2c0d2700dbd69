"""Factorizations, systems of equations and distances against eager."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from decomposed import assert_as_eager

A = torch.randn(2, 5, 5, generator=torch.Generator().manual_seed(1)) + 2 * torch.eye(5)
SYMMETRIC = A @ A.mT
B = torch.randn(2, 5, 3, generator=torch.Generator().manual_seed(2))
TALL = torch.randn(2, 6, 3, generator=torch.Generator().manual_seed(3))
LARGE = torch.randn(40, 40, generator=torch.Generator().manual_seed(4))
CLOSE = 1e-4

CALLS: dict[str, list[tuple[Any, ...]]] = {
    "aten::linalg_inv": [(A,), (A.double(),), (LARGE,)],
    "aten::inverse": [(A,)],
    "aten::linalg_inv_ex": [(A,)],
    "aten::linalg_solve": [(A, B), (A, B[..., 0]), (A[0], B[0, :, 0]), (LARGE, LARGE + 1)],
    "aten::linalg_lu": [(A,), (TALL,), (TALL.mT,)],
    "aten::linalg_slogdet": [(A,), (-A,), (A.double(),)],
    "aten::slogdet": [(A,)],
    "aten::logdet": [(SYMMETRIC,), (-A,)],
    "aten::linalg_cholesky_ex": [(SYMMETRIC,), (SYMMETRIC.double(),)],
    "aten::linalg_cholesky": [(SYMMETRIC,)],
    "aten::linalg_qr": [(A,), (TALL,), (TALL.mT,), (TALL, "complete"), (TALL, "r")],
    "aten::triangular_solve": [(B, A), (B, A, False), (B, A, True, True), (B, A, False, True)],
    "aten::cholesky_solve": [(B, A.tril()), (B, A.triu(), True)],
    "aten::cholesky_inverse": [(A.tril(),), (A.triu(), True)],
    "aten::linalg_matrix_power": [(A, n) for n in (-2, -1, 0, 1, 2, 5)],
    "aten::linalg_matrix_exp": [(A,), (A / 100,), (3 * A.double(),)],
    "aten::pdist": [(TALL[0], p) for p in (0.0, 1.0, 2.0, 3.0)],
}


@pytest.mark.parametrize("name", CALLS)
def test_a_matrix_function_is_eagers(name: str) -> None:
    for arguments in CALLS[name]:
        assert_as_eager(name, *arguments, rounding=CLOSE)


@pytest.mark.parametrize("upper", [False, True])
@pytest.mark.parametrize("unitriangular", [False, True])
@pytest.mark.parametrize("left", [False, True])
def test_triangular_systems_are_solved_as_eager_does(
    upper: bool, unitriangular: bool, left: bool
) -> None:
    b = B if left else B.mT
    named = {"upper": upper, "unitriangular": unitriangular, "left": left}
    assert_as_eager("aten::linalg_solve_triangular", A, b, rounding=CLOSE, **named)


def test_a_system_may_stand_on_the_right() -> None:
    assert_as_eager("aten::linalg_solve", A, B.mT, left=False, rounding=CLOSE)


def test_the_upper_factor_is_eagers() -> None:
    assert_as_eager("aten::linalg_cholesky_ex", SYMMETRIC, upper=True, rounding=CLOSE)


def test_a_singular_matrix_has_determinant_zero() -> None:
    assert_as_eager("aten::linalg_slogdet", torch.ones(3, 3))


@pytest.mark.parametrize("p", [0.0, 0.5, 1.0, 2.0, 3.0, float("inf")])
def test_distances_are_eagers(p: float) -> None:
    assert_as_eager("aten::cdist", TALL, TALL[:, :2] + 1, p)


def test_matrices_without_elements_are_eagers() -> None:
    none = torch.ones(2, 0, 0)
    for name in ("linalg_slogdet", "logdet", "linalg_inv_ex", "linalg_cholesky_ex"):
        assert_as_eager(f"aten::{name}", none)


def test_inverses_of_tensors_are_eagers() -> None:
    a = torch.eye(6) * 2 + torch.arange(36.0).reshape(6, 6).sin() / 4
    assert_as_eager("aten::linalg_tensorinv", a.reshape(2, 3, 6), 2)
    assert_as_eager("aten::linalg_tensorinv", a.reshape(6, 3, 2), 1)
