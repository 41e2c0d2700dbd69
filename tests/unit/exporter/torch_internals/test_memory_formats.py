"""Convolutions of feature maps that have one row at the smallest height."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor, nn
from torch.export import Dim, ExportedProgram

from modelexport_exporter.torch_internals.memory_formats import memory_formats_narrow_no_size
from unit.exporter.torch_internals.exporting import exported


class Mixed(nn.Module):
    """A depthwise convolution of tokens, as hierarchical transformers have it."""

    def __init__(self) -> None:
        super().__init__()
        self.patches, self.norm = nn.Conv2d(1, 16, 4, 4), nn.LayerNorm(16)
        self.depthwise = nn.Conv2d(16, 16, 3, padding=1, groups=16)

    def forward(self, x: Tensor) -> Tensor:
        y = self.patches(x)
        height, width = y.shape[-2:]
        tokens = self.norm(y.flatten(2).transpose(1, 2))
        mixed: Tensor = self.depthwise(tokens.transpose(1, 2).view(len(x), 16, height, width))
        return mixed


def export(module: nn.Module, height: int, width: int) -> ExportedProgram:
    dims = {2: Dim("h", min=4, max=20), 3: Dim("w", min=4, max=20)}
    return exported(module, torch.randn(2, 1, height, width), dims)


@pytest.mark.parametrize(("height", "width"), [(4, 8), (8, 12)])
def test_a_capture_holds_where_there_is_one_row(height: int, width: int) -> None:
    module = Mixed().eval()
    with pytest.raises(torch._dynamo.exc.UserError, match="Constraints violated"):
        export(module, height, width)
    with memory_formats_narrow_no_size():
        program = export(module, height, width)
    for h, w in ((4, 4), (4, 20), (20, 4), (20, 20), (11, 13)):
        x = torch.randn(2, 1, h, w)
        torch.testing.assert_close(program.module()(x), module(x))
