"""One-sided bounds, and sums with products of matrices, against eager."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from decomposed import assert_as_eager, numbers, vectors
from modelexport_exporter.decompositions.registry import DECOMPOSITIONS

DTYPES = st.sampled_from([torch.float16, torch.bfloat16, torch.float32, torch.float64])
BOUNDS = st.sampled_from([0, 1, -2.5, float("inf"), -float("inf"), float("nan")])


@settings(max_examples=100, deadline=None)
@given(x=vectors(numbers(), smallest=0), dtype=DTYPES, bound=BOUNDS)
def test_a_bound_on_one_side_is_eagers(x: Tensor, dtype: torch.dtype, bound: float) -> None:
    x = x.to(dtype)
    assert_as_eager("aten::clamp", x, min=bound)
    assert_as_eager("aten::clamp", x, max=bound)
    assert_as_eager("aten::clamp_min", x, bound)
    assert_as_eager("aten::clamp_max", x, bound)


@settings(max_examples=60, deadline=None)
@given(x=vectors(numbers()), dtype=DTYPES, bound=BOUNDS)
def test_a_tensor_as_bound_is_eagers(x: Tensor, dtype: torch.dtype, bound: float) -> None:
    limits = torch.full_like(x, bound, dtype=dtype)
    for each in (limits, limits[0]):
        assert_as_eager("aten::clamp.Tensor", x, each)
        assert_as_eager("aten::clamp.Tensor", x, None, each)
        assert_as_eager("aten::clamp_min.Tensor", x, each)
        assert_as_eager("aten::clamp_max.Tensor", x, each)


def test_an_integer_beside_a_fraction_bounds_as_eager_does() -> None:
    assert_as_eager("aten::clamp", torch.tensor([-3.0, 0.5, 9.0]), -1, 2.5)


def test_a_number_alone_is_bounded() -> None:
    assert_as_eager("aten::clamp", torch.tensor(float("inf")), min=1.0)


@pytest.mark.parametrize(
    ("x", "bounds", "expected"),
    [
        (torch.ones(2), (0.0, None), True),
        (torch.ones(2), (None, 0), True),
        (torch.ones(2), (0.0, 1.0), False),
        (torch.ones(2), (0, 1.0), True),
        (torch.ones(2, dtype=torch.int64), (0, None), False),
        (torch.ones(2, dtype=torch.uint8), (-1, 1), True),
        (torch.ones(2, dtype=torch.uint8), (0, 1), False),
    ],
)
def test_clip_is_kept_where_it_is_right(
    x: Tensor, bounds: tuple[float | None, ...], expected: bool
) -> None:
    assert DECOMPOSITIONS["aten::clamp"].applies(x, *bounds) is expected


def test_an_unsigned_number_is_never_below_a_negative_bound() -> None:
    x = torch.tensor([0, 1, 200], dtype=torch.uint8)
    assert_as_eager("aten::clamp", x, -1, 1)
    assert_as_eager("aten::clamp", x, -1)


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
    assert_as_eager("aten::addr", b, a[0], b[0], **named)
    assert_as_eager("aten::addmm", odd, a, b, **named)
    assert_as_eager("aten::baddbmm", odd, a[None], b[None], **named)
    assert_as_eager("aten::addbmm", odd, a.expand(2, 3, 4), b.expand(2, 4, 5), **named)


def test_factors_may_be_fractions() -> None:
    assert_as_eager("aten::addmv", A[:, 0], A, B[:, 0], beta=0.5, alpha=-1.5)
    assert_as_eager("aten::addr", B, A[0], B[0], beta=0.5, alpha=-1.5)


@pytest.mark.parametrize("dim", [0, 1, -1, [0, 1], [1, 2], [-1, 0], []])
def test_dims_of_size_one_alone_are_left_out(dim: int | list[int]) -> None:
    for x in (torch.ones(3, 1, 2), torch.ones(1, 1, 2), torch.ones(1, 3, 1), torch.ones(0, 1, 1)):
        assert_as_eager(f"aten::squeeze.{'dim' if isinstance(dim, int) else 'dims'}", x, dim)


def test_a_number_has_no_dims_to_leave_out() -> None:
    assert_as_eager("aten::squeeze.dim", torch.tensor(2.0), 0)
