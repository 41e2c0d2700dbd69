"""Runs of equal elements against eager."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from decomposed import assert_as_eager, matrices, numbers, vectors


@pytest.mark.parametrize("inverse", [False, True])
@pytest.mark.parametrize("counts", [False, True])
@settings(max_examples=40, deadline=None)
@given(x=vectors(numbers(-2.0, 2.0), smallest=0), rows=matrices(numbers(-2.0, 2.0)))
def test_runs_are_eagers(inverse: bool, counts: bool, x: Tensor, rows: Tensor) -> None:
    for dtype in (x.dtype, torch.bool):
        assert_as_eager("aten::unique_consecutive", x.round().to(dtype), inverse, counts)
    assert_as_eager("aten::unique_consecutive", rows.round(), inverse, counts)


@pytest.mark.parametrize("dim", [0, 1])
@settings(max_examples=40, deadline=None)
@given(rows=matrices(numbers(-1.0, 1.0)))
def test_runs_of_rows_and_columns_are_eagers(dim: int, rows: Tensor) -> None:
    assert_as_eager("aten::unique_consecutive", rows.round(), True, True, dim)


@settings(max_examples=40, deadline=None)
@given(repeats=st.lists(st.integers(0, 4), min_size=1, max_size=8))
def test_repeats_are_eagers(repeats: list[int]) -> None:
    for dtype in (torch.int64, torch.int32):
        lengths = torch.tensor(repeats, dtype=dtype)
        assert_as_eager("aten::repeat_interleave.Tensor", lengths, output_size=sum(repeats))
