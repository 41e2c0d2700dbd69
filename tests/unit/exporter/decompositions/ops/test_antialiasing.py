"""Antialiased resizing against eager, up and down, by size and by factor."""

from __future__ import annotations

from typing import Any

import pytest
import torch
import torch.nn.functional as F  # noqa: N812

from modelexport_exporter.decompositions.library import DECOMPOSITIONS
from modelexport_exporter.decompositions.programs import decompose
from modelexport_exporter.decompositions.rewrite import whole_table

TARGETS: list[dict[str, Any]] = [
    {"size": (5, 7)},
    {"size": (31, 40)},
    {"size": (6, 40)},
    {"scale_factor": 0.5},
    {"scale_factor": (0.37, 1.5)},
    {"size": (5, 7), "align_corners": True},
    {"size": (1, 1), "align_corners": True},
]


@pytest.mark.parametrize("mode", ["bilinear", "bicubic"])
@pytest.mark.parametrize("target", TARGETS, ids=str)
@pytest.mark.parametrize("image", [(16, 16), (17, 19), (8, 33)], ids=str)
def test_as_in_eager(mode: str, target: dict[str, Any], image: tuple[int, int]) -> None:
    x = torch.randn(2, 3, *image)
    expected = F.interpolate(x, mode=mode, antialias=True, **target)
    align = target.get("align_corners", False)
    by = target.get("scale_factor")
    factors = (by, by) if isinstance(by, float) else by
    function = DECOMPOSITIONS[f"aten::_upsample_{mode}2d_aa.vec"].function
    torch.testing.assert_close(function(x, target.get("size"), align, factors), expected)


@pytest.mark.parametrize("target", [{"size": (9, 30)}, {"scale_factor": 0.5}], ids=str)
def test_dynamic_sizes_stay_dynamic(target: dict[str, Any]) -> None:
    class Resize(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return F.interpolate(x, mode="bilinear", antialias=True, **target)

    height, width = torch.export.Dim("height", min=8, max=40), torch.export.Dim("width", min=8)
    x = torch.randn(1, 3, 16, 18)
    program = torch.export.export(Resize(), (x,), dynamic_shapes=({2: height, 3: width},))
    rewritten = decompose(program, whole_table(())).module()
    for size in ((8, 8), (17, 19), (33, 12)):
        x = torch.randn(1, 3, *size)
        torch.testing.assert_close(rewritten(x), Resize()(x))
