"""What a model computes from the logarithm of a size, while it is captured."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

from modelexport_exporter.torch_internals.symbolic_numbers import sizes_stay_symbolic

Compute = Callable[[Any, torch.Tensor], Any]


class Sized(torch.nn.Module):
    def __init__(self, compute: Compute) -> None:
        super().__init__()
        self.compute = compute

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        found: torch.Tensor = x * self.compute(x.shape[0], x)
        return found


@pytest.mark.parametrize(
    "compute",
    [
        lambda n, _: math.trunc(3 * math.log(n)),
        lambda n, _: math.ceil(math.log1p(n)) + math.floor(math.log10(n)),
        lambda n, _: round(math.log(n, 3) - 1),
        lambda n, _: math.floor(40 * math.log(n) / n),
        lambda n, _: math.floor(5 - 9 * math.log2(n) ** 0.5) + math.ceil(-math.log(n)),
        lambda n, _: np.ceil(np.log(n)).astype("int").item() + math.ceil(np.sqrt(n)),
        lambda n, _: np.ceil(np.log2(n)).astype(np.float32),
        lambda n, _: math.ceil(2 * n) + math.floor(n) + math.trunc(n),
        lambda n, _: ((n - 1) | 15) + 1 + (3 | n) + (n & 12),
        lambda n, _: (-n & 7) + (n & ~3) + (n ^ 1) + (0 ^ n) + (1 & n),
        lambda n, _: (n >> 2) + (n << 3) + (-n >> 1) + (n & 0),
        lambda n, x: x * math.log(n) + 1 / math.log(n) + math.log2(n) * x,
        lambda n, _: torch.arange(n) * math.log(n),
    ],
)
def test_it_holds_at_all_sizes(compute: Compute) -> None:
    module = Sized(compute)
    for dim in (torch.export.Dim("n", min=2, max=5000), torch.export.Dim.AUTO):
        with sizes_stay_symbolic([]):
            program = torch.export.export(module, (torch.ones(6),), dynamic_shapes=({0: dim},))
        for size in (2, 3, 7, 8, 20, 21, 100, 1000, 1001, 4999):
            given = torch.rand(size)
            assert torch.equal(program.module()(given), module(given)), size


@pytest.mark.parametrize(
    "compute",
    [
        lambda n, _: 2.0 if math.log(n) > 3 else 1.0,
        lambda n, x: sum(x for _ in range(math.floor(math.log(n)))),
    ],
)
def test_a_decision_holds_on_its_side(compute: Compute) -> None:
    module = Sized(compute)
    with sizes_stay_symbolic([]):
        program = torch.export.export(
            module, (torch.ones(25),), dynamic_shapes=({0: torch.export.Dim.AUTO},)
        )
    for size in (21, 54):
        given = torch.rand(size)
        assert torch.equal(program.module()(given), module(given)), size
    with pytest.raises((RuntimeError, AssertionError)):
        program.module()(torch.rand(7))
