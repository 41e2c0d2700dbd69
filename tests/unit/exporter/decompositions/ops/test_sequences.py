"""Sequences of one number against eager."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from decomposed import assert_as_eager
from modelexport_exporter.decompositions.library import DECOMPOSITIONS

START, END = torch.tensor(-2.0), torch.tensor(3)


@pytest.mark.parametrize("name", ["linspace", "logspace"])
@pytest.mark.parametrize("dtype", [None, torch.float64, torch.float16])
def test_one_number_is_the_first(name: str, dtype: torch.dtype | None) -> None:
    named: dict[str, Any] = {"dtype": dtype}
    assert_as_eager(f"aten::{name}.Tensor_Tensor", START, END, 1, **named)
    assert_as_eager(f"aten::{name}.Tensor_Scalar", START, 5.0, 1, **named)


def test_longer_ones_are_left_to_torch() -> None:
    assert not DECOMPOSITIONS["aten::linspace.Tensor_Tensor"].applies(START, END, 2)
