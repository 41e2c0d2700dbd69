"""One-sided bounds against eager."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from decomposed import assert_as_eager, numbers, vectors
from modelexport_exporter.decompositions.library import DECOMPOSITIONS

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


def test_an_integer_and_a_fraction_bound_as_eager_does() -> None:
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
