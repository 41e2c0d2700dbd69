"""Resizing whose factors are made of sizes: positions of a vision transformer, `h / 14`.

torch.export fixes factors to those of the example, since its operators take them as floats.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
import torch.nn.functional as F  # noqa: N812
from torch import SymFloat, Tensor

from modelexport_exporter.decompositions.capture.registry import Replacements, Result, is_open
from modelexport_exporter.decompositions.ops import nearest_resizing, scaled_resizing
from modelexport_exporter.decompositions.sizes import Factor, Size, scaled_sizes
from modelexport_exporter.torch_internals.symbolic_sizes import check

CALLS = Replacements()

Resize = Callable[[Tensor, Sequence[Size], Sequence[Factor], bool], Tensor]


def _nearest(x: Tensor, sizes: Sequence[Size], factors: Sequence[Factor], _: bool) -> Tensor:
    return nearest_resizing.pick(x, sizes, factors)


def _along_axes(interpolate: scaled_resizing.Interpolate) -> Resize:
    def resize(
        x: Tensor,
        sizes: Sequence[Size],
        factors: Sequence[Factor],
        align: bool,
    ) -> Tensor:
        return scaled_resizing.resized(interpolate, x, sizes, factors, align=align)

    return resize


_RESIZES: Mapping[str, Resize] = {
    "nearest": _nearest,
    "linear": _along_axes(scaled_resizing.linear),
    "bilinear": _along_axes(scaled_resizing.linear),
    "trilinear": _along_axes(scaled_resizing.linear),
    "bicubic": _along_axes(scaled_resizing.cubic),
}
"""Modes for which a factor decides where outputs lie; area takes sizes only."""


@CALLS.replaces("interpolate", F.interpolate)
def interpolate(
    x: Tensor,
    size: object = None,
    scale_factor: Any = None,  # noqa: ANN401
    mode: str = "nearest",
    align_corners: bool | None = None,
    recompute_scale_factor: bool | None = None,
    antialias: bool = False,
) -> Result:
    """Declare that sizes known only at run time are positive; compute with factors of sizes."""
    for entry in x.shape[2:]:
        if is_open(entry):
            check(entry > 0)
    if size is not None or not _has_open_factor(scale_factor):
        return NotImplemented
    several = isinstance(scale_factor, tuple | list)
    factors: list[Any] = list(scale_factor if several else [scale_factor] * (x.dim() - 2))
    sizes = scaled_sizes(x.shape[2:], factors)
    if recompute_scale_factor or mode == "area":
        return F.interpolate(x, sizes, None, mode, align_corners, None, antialias)  # type: ignore[arg-type]
    if antialias or mode not in _RESIZES:
        return NotImplemented
    return _RESIZES[mode](x, sizes, factors, bool(align_corners))


def _has_open_factor(factor: object) -> bool:
    factors = factor if isinstance(factor, tuple | list) else [factor]
    return any(isinstance(each, SymFloat | torch.SymInt) for each in factors)
