"""Searching and counting against eager."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from hypothesis import given, settings
from torch import Tensor

from decomposed import assert_as_eager, matrices, numbers, vectors

X = torch.arange(12.0).reshape(3, 4) - 4


@pytest.mark.parametrize("options", [{}, {"right": True}, {"side": "right", "out_int32": True}])
@settings(max_examples=40, deadline=None)
@given(x=matrices(numbers(-5.0, 5.0)))
def test_places_in_a_sorted_sequence_are_eagers(options: dict[str, Any], x: Tensor) -> None:
    boundaries = x.nan_to_num(0.0).round().sort(1)[0]
    assert_as_eager("aten::searchsorted.Tensor", boundaries, x, **options)
    assert_as_eager("aten::searchsorted.Tensor", boundaries[0], x, **options)


def test_a_sequence_may_come_with_its_order() -> None:
    x = torch.tensor([3.0, 1.0, 2.0])
    assert_as_eager("aten::searchsorted.Tensor", x, X, sorter=x.argsort())
    assert_as_eager("aten::searchsorted.Scalar", x.sort()[0], 2.5)


def test_counts_with_weights_are_eagers() -> None:
    assert_as_eager("aten::bincount", torch.tensor([1, 3, 1]), torch.tensor([0.5, 1.0, 2.0]), 6)


@pytest.mark.parametrize("invert", [False, True])
@settings(max_examples=40, deadline=None)
@given(x=vectors(numbers(-3.0, 3.0)))
def test_membership_is_eagers(invert: bool, x: Tensor) -> None:
    assert_as_eager("aten::isin.Tensor_Tensor", x.round(), x[:2], invert=invert)
    assert_as_eager("aten::isin.Scalar_Tensor", 1.0, x.round(), invert=invert)
