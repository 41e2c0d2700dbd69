"""Inputs in another floating-point dtype than forward wants are found by calls."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest
import torch

from modelexport_exporter.diagnosis.accepted.dtypes import limits_of_dtypes

Values = Mapping[str, torch.Tensor]
ROWS, IDS = torch.ones(2, 4), torch.ones(2, 4, dtype=torch.int64)


@pytest.mark.parametrize(
    ("values", "takes", "advice"),
    [
        ({"x": ROWS, "y": ROWS, "ids": IDS}, lambda v: v["x"].dtype is v["y"].dtype is torch.half,
         "Set dtype: float16 for inputs x and y."),
        ({"x": ROWS, "y": ROWS}, lambda v: v["x"].dtype is not v["y"].dtype is torch.bfloat16,
         "Set dtype: bfloat16 for input y."),
        ({"x": ROWS}, lambda v: v["x"].dtype is torch.float64, "Set dtype: float64 for input x."),
        ({"x": ROWS}, lambda v: v["x"].dtype is torch.float32, None),
        ({"ids": IDS}, lambda v: v["ids"].is_floating_point(), None),
    ],
)  # fmt: skip
def test_what_helps(values: Values, takes: Callable[[Values], bool], advice: str | None) -> None:
    limits = limits_of_dtypes(takes, values)
    assert [limit.advice for limit in limits] == ([advice] if advice else [])
