"""What rounding does inside of a resampling: to the place of each sample in the picture.

A place is a product of an index and a scale in float32, so that it is off by a unit of the size,
and the result by that times the slope of the picture. Behind a resize, 8-bit pixels round the other
way where the result is that near to a half.
"""

from __future__ import annotations

from typing import Any

import torch

SMOOTH = ("linear", "bilinear", "trilinear", "bicubic")
"""Of the names of ATen ops, upsample_bicubic2d: nearest ones move whole pixels."""
ALIGN_CORNERS = 2
"""The argument of these ops."""
BATCH_AND_CHANNEL = 2
UNITS = 2.0
"""By which a place is off: of onnxruntime 1.31, 1.5 measured."""


def is_resampling(name: str) -> bool:
    """Return whether an ATen op interpolates between pixels."""
    return "upsample_" in name and any(f"_{kind}" in name for kind in SMOOTH)


def magnitudes_of_places(args: tuple[Any, ...], wide: torch.Tensor) -> torch.Tensor | None:
    """Return what the rounding of places is relative to; None where all places are exact.

    `wide`: the result in float64, of shape [batch, channels, *sizes].
    """
    given = args[0]
    corners = len(args) > ALIGN_CORNERS and args[ALIGN_CORNERS] is True
    sizes = list(zip(given.shape[BATCH_AND_CHANNEL:], wide.shape[BATCH_AND_CHANNEL:], strict=True))
    if all(_is_exact(before, after, corners=corners) for before, after in sizes):
        return None
    dims = tuple(range(BATCH_AND_CHANNEL, given.ndim))
    contrast = given.double().amax(dims, keepdim=True) - given.double().amin(dims, keepdim=True)
    longest = max(max(pair) for pair in sizes)
    return torch.maximum(wide.abs(), contrast * longest * UNITS)


def _is_exact(before: int, after: int, *, corners: bool) -> bool:
    """Return whether the scale is a power of two, or 1."""
    if before == after or not before or not after:
        return True
    scale = (before - 1) / max(after - 1, 1) if corners else before / after
    return scale == 0 or torch.frexp(torch.tensor(scale))[0].item() == 0.5  # noqa: PLR2004
