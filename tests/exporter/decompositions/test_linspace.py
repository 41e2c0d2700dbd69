"""The places of linspace of a dynamic number of steps, where whole numbers are exact in eager."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor, nn

from modelexport_exporter.decompositions import capturing_calls


class Starts(nn.Module):
    """The place in a flat array at which each row begins, as C51's projection has it."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.width = width

    def forward(self, x: Tensor) -> Tensor:
        rows = x.shape[0]
        return torch.linspace(0, (rows - 1) * self.width, rows).long()


@pytest.mark.parametrize("width", [1, 11, 51])
def test_whole_numbers_are_exact(width: int) -> None:
    model = Starts(width)
    rows = torch.export.Dim("rows", min=2, max=64)
    with capturing_calls(()):
        program = torch.export.export(model, (torch.ones(5, 3),), dynamic_shapes=({0: rows},))
    captured = program.module()
    for count in range(2, 65):
        x = torch.ones(count, 3)
        assert captured(x).tolist() == model(x).tolist(), count
