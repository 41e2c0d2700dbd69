"""Weights of two dtypes are named by their parts, where one dtype helps."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
import torch
from torch import nn

from modelexport_exporter.diagnosis.accepted.weight_dtypes import limits_of_weights, parts_by_dtype

SINGLE, DOUBLE = "float32", "float64"


@pytest.mark.parametrize(
    ("dtypes", "expected"),
    [
        ({"head.0.weight": DOUBLE, "head.0.bias": DOUBLE, "basis": SINGLE},
         {DOUBLE: ["head"], SINGLE: ["basis"]}),
        ({"net.0.weight": SINGLE, "net.1.weight": DOUBLE, "net.1.bias": DOUBLE},
         {SINGLE: ["net.0"], DOUBLE: ["net.1"]}),
        ({"a.weight": SINGLE, "a.bias": DOUBLE, "b.weight": SINGLE},
         {SINGLE: ["a.weight", "b"], DOUBLE: ["a.bias"]}),
    ],
)  # fmt: skip
def test_parts(dtypes: Mapping[str, str], expected: Mapping[str, list[str]]) -> None:
    assert parts_by_dtype(dtypes) == expected


def model_of(*dtypes: torch.dtype) -> nn.Sequential:
    return nn.Sequential(*(nn.Linear(4, 4).to(dtype) for dtype in dtypes))


def takes(rows: torch.Tensor, model: nn.Module) -> bool:
    try:
        model(rows)
    except RuntimeError:
        return False
    return True


@pytest.mark.parametrize(
    ("model", "rows", "condition"),
    [
        (model_of(torch.float32, torch.float64), torch.ones(2, 4),
         "all weights in float32 (0 is float32, 1 is float64)"),
        (model_of(torch.float32, torch.float64), torch.ones(2, 4, dtype=torch.float64),
         "all weights in float64 (0 is float32, 1 is float64)"),
        # it is refused for its sizes
        (model_of(torch.float32, torch.float64), torch.ones(2, 5), None),
        (model_of(torch.bfloat16, torch.bfloat16), torch.ones(2, 4),
         "all weights in float32 (0, 1 are bfloat16)"),
        (model_of(torch.float32), torch.ones(2, 4, dtype=torch.float64), None),
    ],
)  # fmt: skip
def test_what_helps(model: nn.Module, rows: torch.Tensor, condition: str | None) -> None:
    limits = limits_of_weights(model, lambda other: takes(rows, other))
    assert [limit.condition for limit in limits] == ([condition] if condition else [])
    assert not takes(rows, model)
