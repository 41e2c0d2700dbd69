"""Programs that torch.export captures, and that the library could not decompose as they are."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

from modelexport_exporter.decompositions.programs import (
    calls,
    decompose,
    with_tensors_for_numbers,
)
from modelexport_exporter.decompositions.rewrite import whole_table


class _OfNumpy(nn.Module):
    """Multiplies by what a function of NumPy makes of the number of rows."""

    def __init__(self, function: Callable[[Any], Any]) -> None:
        super().__init__()
        self.function = function

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        table = self.function(np.arange(1, x.shape[0] + 1, dtype=np.float64))
        return x * torch.from_numpy(table).unsqueeze(1)


@pytest.mark.parametrize(
    "function",
    [
        lambda table: 1.0 / 10000**table,
        lambda table: 2 - table.astype(np.float32),
        lambda table: np.maximum(3, table.astype(np.int64)),
        lambda table: np.where(table > 2, 0.0, table),
    ],
)
def test_a_number_that_numpy_leaves_in_a_tensors_place(function: Callable[[Any], Any]) -> None:
    model, rows = _OfNumpy(function), torch.export.Dim("rows", min=2, max=9)
    program = torch.export.export(
        model, (torch.ones(5, 2),), dynamic_shapes={"x": {0: rows}}, strict=True
    )
    other = torch.randn(3, 2)
    found, want = decompose(program, whole_table(())).module()(other), model(other)
    assert found.dtype == want.dtype
    assert torch.equal(found, want)


@pytest.mark.parametrize("offset", [0, 1, -2])
def test_a_diagonal_is_as_long_as_the_shorter_side_at_any_size(offset: int) -> None:
    class Diagonal(nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return x.diagonal(offset)

    sides = {
        0: torch.export.Dim("rows", min=4, max=9),
        1: torch.export.Dim("columns", min=4, max=9),
    }
    program = torch.export.export(
        Diagonal(),
        (torch.ones(7, 4),),
        dynamic_shapes={"x": sides},
        prefer_deferred_runtime_asserts_over_guards=True,
    )
    decomposed = decompose(program, whole_table(())).module()
    for shape in ((7, 4), (4, 8), (5, 5)):
        x = torch.randn(shape)
        assert torch.equal(decomposed(x), x.diagonal(offset))


def test_a_number_beside_a_tensor_stays_one_that_is_not_rounded() -> None:
    class Scaled(nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return x * 0.1 + 3

    program = torch.export.export(Scaled(), (torch.ones(2, dtype=torch.float16),))
    numbers = [node.args[1] for node in calls(with_tensors_for_numbers(program))]
    assert numbers == [0.1, 3]
