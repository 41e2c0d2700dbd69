"""Pseudo-inverses against eager, of matrices without full rank too."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from decomposed import assert_as_eager

G = torch.Generator().manual_seed(1)
A = torch.randn(2, 5, 5, generator=G) + 2 * torch.eye(5)
TALL = torch.randn(2, 6, 3, generator=G)
OF_RANK_2 = torch.randn(5, 2, generator=G) @ torch.randn(2, 4, generator=G)
LONG = torch.randn(40, 2, generator=G) @ torch.randn(2, 4, generator=G)
LARGE = torch.randn(20, 30, generator=G)
PINV = "aten::linalg_pinv.atol_rtol_tensor"
CLOSE = 1e-4


@pytest.mark.parametrize("a", [A, A.double(), TALL, TALL.mT, OF_RANK_2, LONG, LONG.mT, LARGE])
def test_a_pseudo_inverse_is_eagers(a: torch.Tensor) -> None:
    assert_as_eager(PINV, a, rounding=CLOSE)
    assert_as_eager("aten::linalg_pinv", a, 1e-5, rounding=CLOSE)


def test_nothing_has_the_pseudo_inverse_nothing() -> None:
    for shape in ((3, 4), (20, 30)):
        assert_as_eager(PINV, torch.zeros(shape))


@pytest.mark.parametrize(
    "tolerance",
    [
        {"atol": torch.tensor(2.0)},
        {"rtol": torch.tensor(0.5)},
        {"atol": torch.tensor([0.0, 2.5]), "rtol": torch.tensor(0.3)},
        {"atol": torch.tensor([0.0, 2.5])},
    ],
)
def test_values_below_the_tolerance_are_left_out(tolerance: dict[str, Any]) -> None:
    assert_as_eager(PINV, A, rounding=CLOSE, **tolerance)
    assert_as_eager(PINV, A + A.mT, hermitian=True, rounding=CLOSE, **tolerance)


def test_tolerances_may_be_numbers() -> None:
    for name, named in (
        ("aten::linalg_pinv.atol_rtol_float", {"atol": 1.5, "rtol": 0.1}),
        ("aten::linalg_pinv.atol_rtol_float", {"rtol": 0.6}),
        ("aten::pinverse", {"rcond": 0.4}),
    ):
        assert_as_eager(name, A, rounding=CLOSE, **named)
    assert_as_eager("aten::linalg_pinv.rcond_tensor", A, torch.tensor([0.1, 0.6]), rounding=CLOSE)
