"""Sums with products of matrices against eager."""

from __future__ import annotations

import pytest
import torch

from decomposed import assert_as_eager

A = torch.arange(12.0).reshape(3, 4) - 5
B = torch.arange(20.0).reshape(4, 5) - 9
NOTHING = float("nan")


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.int64, torch.int32])
@pytest.mark.parametrize(("beta", "alpha"), [(1, 1), (2, -3), (0, 2), (1, 0)])
def test_sums_of_products_are_eagers(dtype: torch.dtype, beta: int, alpha: int) -> None:
    a, b = A.to(dtype), B.to(dtype)
    named = {"beta": beta, "alpha": alpha}
    odd = torch.full((5,), NOTHING if beta == 0 and dtype.is_floating_point else 3).to(dtype)
    assert_as_eager("aten::addmv", a[:, 0], a, b[:, 0], **named)
    assert_as_eager("aten::addmv", a[0, 0], a, b[:, 0], **named)
    assert_as_eager("aten::addmm", odd, a, b, **named)
    assert_as_eager("aten::baddbmm", odd, a[None], b[None], **named)
    assert_as_eager("aten::addbmm", odd, a.expand(2, 3, 4), b.expand(2, 4, 5), **named)


def test_factors_may_be_fractions() -> None:
    assert_as_eager("aten::addmv", A[:, 0], A, B[:, 0], beta=0.5, alpha=-1.5)


def test_a_sum_without_terms_keeps_the_factor_of_the_addend() -> None:
    # onnxruntime's Gemm returns the addend alone.
    assert_as_eager("aten::addmm", B[0], A[:, :0], B[:0], beta=0.5)


@pytest.mark.parametrize("shape", [(4, 0), (2, 3, 0), (0,)])
def test_a_layer_of_no_inputs_is_its_bias(shape: tuple[int, ...]) -> None:
    for weight, bias in ((torch.ones(5, 0), B[0]), (torch.ones(5, 0), None), (torch.ones(0), None)):
        assert_as_eager("aten::linear", torch.ones(shape), weight, bias)
