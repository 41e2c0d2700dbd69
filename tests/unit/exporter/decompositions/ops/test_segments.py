"""Reductions of segments, against eager."""

from __future__ import annotations

import pytest
import torch

from decomposed import assert_as_eager

X = torch.arange(24.0).reshape(6, 4).sin()


@pytest.mark.parametrize("initial", [None, 0.25])
@pytest.mark.parametrize("reduce", ["sum", "mean", "max", "min", "prod"])
def test_rows_of_segments_are_reduced(reduce: str, initial: float | None) -> None:
    lengths = torch.tensor([2, 0, 3, 1])
    for x in (X, X[:, 0], X[:, :, None].double()):
        assert_as_eager("aten::segment_reduce", x, reduce, lengths=lengths, initial=initial)


@pytest.mark.parametrize("reduce", ["sum", "mean", "max"])
def test_rows_outside_of_all_segments_are_left_out(reduce: str) -> None:
    offsets = torch.tensor([1, 3, 3, 5])
    assert_as_eager("aten::segment_reduce", X, reduce, offsets=offsets)
