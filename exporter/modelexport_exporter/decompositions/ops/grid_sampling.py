"""Sampling of the nearest pixel at reflected places, which torch reflects before it rounds."""

from __future__ import annotations

import torch
from torch import Tensor

from modelexport_exporter.decompositions.registry import Family

FAMILY = Family("Grid sampling", __doc__)
_NEAREST, _BORDER, _REFLECTION = 1, 1, 2


def _reflects(
    x: Tensor, grid: Tensor, interpolation_mode: int, padding_mode: int, align_corners: bool
) -> bool:
    nearest = interpolation_mode == _NEAREST and padding_mode == _REFLECTION
    return nearest and not align_corners and x.dim() == 4


@FAMILY.decomposes(
    "aten::grid_sampler",
    "aten::grid_sampler_2d",
    defect="onnxruntime rounds before it reflects: ties outside of the image are other pixels",
    method="places reflected and rounded first, then sampled with the border as padding",
    applies=_reflects,
)
def sample_reflected(
    x: Tensor, grid: Tensor, interpolation_mode: int, padding_mode: int, align_corners: bool
) -> Tensor:
    width, height = x.shape[3], x.shape[2]
    centers = [_nearest(grid[..., 0], width), _nearest(grid[..., 1], height)]
    return torch.grid_sampler_2d(x, torch.stack(centers, -1), _NEAREST, _BORDER, False)


def _nearest(places: Tensor, size: int) -> Tensor:
    """Return the normalized center of the pixel at each normalized place."""
    # The distance from the edge before the first pixel, in pixels.
    distance = ((places + 1) * size / 2).abs()
    rest = torch.fmod(distance, size)
    flips = torch.floor(distance / size)
    inside = torch.where(torch.fmod(flips, 2) == 0, rest, size - rest)
    pixel = torch.round(torch.clamp(inside - 0.5, min=0.0))
    pixel = torch.minimum(pixel, torch.full_like(pixel, 1) * (size - 1))
    return (2 * pixel + 1) / size - 1


@FAMILY.decomposes("aten::grid_sampler_3d", method="grid_sampler")
def grid_sampler_3d(
    x: Tensor, grid: Tensor, interpolation_mode: int, padding_mode: int, align_corners: bool
) -> Tensor:
    result: Tensor = torch.ops.aten.grid_sampler.default(
        x, grid, interpolation_mode, padding_mode, align_corners
    )
    return result
