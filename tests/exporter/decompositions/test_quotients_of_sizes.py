"""A quotient of sizes is a size, and answers what a tensor of no dims is asked for."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.export import Dim

from modelexport_exporter.decompositions import capturing_calls


class Quotients(nn.Module):
    def forward(self, x: Tensor) -> tuple[Tensor, ...]:
        n = x.shape[0]
        half: Any = torch.div(n, 2, rounding_mode="floor")
        third: Any = torch.floor_divide(n, 3)
        below = torch.div(n - 9, 2, rounding_mode="trunc")
        return (
            x * half.float(),
            x.expand(third.item(), *x.shape) + third.to(torch.float64),
            half.long() + third.int(),
            below + x,
            x.new_zeros(half - 1, third),
        )


@pytest.mark.parametrize("rows", [10, 13, 30])
def test_quotients_hold_at_every_size(rows: int) -> None:
    module = Quotients()
    with capturing_calls(()):
        program = torch.export.export(
            module, (torch.ones(12, 2),), dynamic_shapes=({0: Dim("n", min=10, max=40)},)
        )
    x = torch.rand(rows, 2)
    for want, got in zip(module(x), program.module()(x), strict=True):
        torch.testing.assert_close(got, want)
