"""Integers and booleans, where ONNX takes floats only, against eager."""

from __future__ import annotations

import pytest
import torch

from decomposed import assert_as_eager
from modelexport_exporter.decompositions.library import DECOMPOSITIONS

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


@pytest.mark.parametrize("x", [FLAGS, NUMBERS, BYTES])
def test_no_integer_is_nan(x: torch.Tensor) -> None:
    assert_as_eager("aten::isnan", x)
    assert_as_eager("aten::isfinite", x)
    assert_as_eager("aten::nansum", x)
    assert_as_eager("aten::nansum", x, [1], True)


def test_bytes_stay_bytes() -> None:
    for name in ("any", "all"):
        assert_as_eager(f"aten::{name}", BYTES)
        assert_as_eager(f"aten::{name}.dim", BYTES, 1, True)


@pytest.mark.parametrize("function", ["floor", "ceil", "trunc", "round", "relu"])
def test_integers_stay_what_they_are(function: str) -> None:
    assert_as_eager(f"aten::{function}", torch.tensor([-3, 0, 4]))


def test_booleans_are_combined_as_eager_does() -> None:
    p, q = torch.tensor([True, True, False, False]), torch.tensor([True, False, True, False])
    assert_as_eager("aten::add.Tensor", p, q)
    assert_as_eager("aten::where.self", p, q, ~q)
    assert_as_eager("aten::masked_fill.Scalar", p, q, 1)
    assert_as_eager("aten::masked_fill.Scalar", p, q, 0)


@pytest.mark.parametrize("x", [NUMBERS, BYTES, NUMBERS.int()])
def test_integers_are_subtracted_from_a_float(x: torch.Tensor) -> None:
    assert_as_eager("aten::rsub.Scalar", x, 1.5)
    assert_as_eager("aten::rsub.Scalar", x, 1.0, 2)


def test_only_integers_of_one_width_are_views_by_a_cast() -> None:
    applies = DECOMPOSITIONS["aten::view.dtype"].applies
    numbers = torch.arange(4)
    assert applies(numbers.to(torch.uint8), torch.int8)
    for dtype in (torch.complex64, torch.float64, torch.int32, torch.bool):
        assert not applies(numbers, dtype)
    assert not applies(numbers, 2, 2)
