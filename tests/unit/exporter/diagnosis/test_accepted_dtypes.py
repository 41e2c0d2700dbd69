"""Inputs in another dtype than forward wants are found by calls."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest
import torch

from modelexport_exporter.diagnosis.accepted.dtypes import limits_of_dtypes

Values = Mapping[str, torch.Tensor]
OF_DTYPES = "RuntimeError: mat1 and mat2 must have the same dtype, but got Float and Half"
ROWS, IDS = torch.ones(2, 4), torch.ones(2, 4, dtype=torch.int64)


@pytest.mark.parametrize(
    ("values", "takes", "advice"),
    [
        ({"x": ROWS, "y": ROWS}, lambda v: v["x"].dtype is v["y"].dtype is torch.float16,
         "Set dtype: float16 for inputs x and y."),
        ({"x": ROWS, "y": ROWS}, lambda v: v["x"].dtype is not v["y"].dtype is torch.float32,
         "Set dtype: float16 for input x."),
        ({"x": ROWS, "ids": ROWS}, lambda v: not v["ids"].is_floating_point(), None),
        ({"x": ROWS, "ids": IDS}, lambda v: v["ids"].dtype is torch.bool,
         "Set dtype: bool for input ids."),
        ({"x": ROWS, "mask": IDS}, lambda v: v["mask"].dtype is torch.float32,
         "Set dtype: float32 for input mask."),
    ],
)  # fmt: skip
def test_what_helps(values: Values, takes: Callable[[Values], bool], advice: str | None) -> None:
    limits = limits_of_dtypes(takes, values, OF_DTYPES)
    assert [limit.advice for limit in limits] == ([advice] if advice else [])


def test_a_failure_of_something_else_is_left() -> None:
    assert limits_of_dtypes(lambda _: True, {"ids": IDS}, "index 9 is out of bounds") == []
