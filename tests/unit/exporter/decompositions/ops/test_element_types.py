"""Booleans and integers where ONNX takes only numbers or only floats, against eager."""

from __future__ import annotations

import pytest
import torch

from decomposed import assert_as_eager

FLAGS = torch.tensor([[True, False, False], [False, False, False], [True, True, False]])
NUMBERS = torch.tensor([[3, -7, 0], [2, 2, -1]])
BYTES = torch.tensor([[3, 0], [0, 0]], dtype=torch.uint8)


@pytest.mark.parametrize("dim", [0, 1, -1])
def test_booleans_are_ordered_as_eager_does(dim: int) -> None:
    rows = FLAGS[:, :2] if dim == 0 else FLAGS[0:1, 0:2]
    assert_as_eager("aten::max.dim", rows[:1], dim, True)
    assert_as_eager("aten::min.dim", rows[:1], dim)
    assert_as_eager("aten::cummax", FLAGS, dim)
    assert_as_eager("aten::cummin", FLAGS, dim)


@pytest.mark.parametrize("descending", [False, True])
def test_booleans_are_sorted_as_eager_does(descending: bool) -> None:
    pair = torch.tensor([True, False])
    assert_as_eager("aten::sort", pair, 0, descending)
    assert_as_eager("aten::argsort", pair, 0, descending)


@pytest.mark.parametrize("dtype", [torch.int8, torch.int32, torch.int64])
def test_running_extremes_of_integers_are_eagers(dtype: torch.dtype) -> None:
    ends = torch.tensor([torch.iinfo(dtype).max, torch.iinfo(dtype).min, 0], dtype=dtype)
    for x in (NUMBERS.to(dtype), ends, ends.flip(0)):
        assert_as_eager("aten::cummax", x, -1)
        assert_as_eager("aten::cummin", x, -1)


@pytest.mark.parametrize("x", [FLAGS, NUMBERS, BYTES])
def test_no_integer_is_nan(x: torch.Tensor) -> None:
    assert_as_eager("aten::isnan", x)
    assert_as_eager("aten::isfinite", x)
    assert_as_eager("aten::nansum", x)
    assert_as_eager("aten::nansum", x, [1], True)


@pytest.mark.parametrize("keepdim", [False, True])
@pytest.mark.parametrize("x", [NUMBERS, FLAGS, NUMBERS / 2, torch.tensor(1.5)])
def test_extremes_of_everything_are_eagers(x: torch.Tensor, keepdim: bool) -> None:
    assert_as_eager("aten::amax", x, [], keepdim)
    assert_as_eager("aten::amin", x, [], keepdim)
    assert_as_eager("aten::amax", x)


def test_bytes_stay_bytes() -> None:
    for name in ("any", "all"):
        assert_as_eager(f"aten::{name}", BYTES)
        assert_as_eager(f"aten::{name}.dim", BYTES, 1, True)
