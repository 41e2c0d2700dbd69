"""Linear and cubic resizing by a factor, where onnxruntime's Resize has other rows, or float64.

onnxruntime computes Resize's output sizes in float32, torch in double: 50 rows by 0.58 are 29 rows
there and 28 here. Linear modes of torch copy an axis whose size stays the same, 8 rows by 1.1, and
Resize interpolates it. Where no declared size differs, Resize stays.

Output i lies at (i + 1/2) / factor - 1/2, or with align_corners at
i · (inputs - 1) / (outputs - 1); it is the mean of 2 neighbours, or of 4 by Keys' cubic of -3/4.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from modelexport_exporter.decompositions.dtypes import HALVES
from modelexport_exporter.decompositions.registry import Family
from modelexport_exporter.decompositions.sizes import (
    Factor,
    Size,
    inverse,
    may_stay,
    number,
    scaled_sizes,
    scales_exactly_in_single,
)

FAMILY = Family("Resizing by a factor", __doc__)

_CUBIC = -0.75
Interpolate = Callable[[Tensor, int, Tensor, Sequence[int]], Tensor]
"""Interpolates along an axis at places, whose weights have a shape that broadcasts."""


def _differs(
    x: Tensor,
    output_size: Sequence[Size] | None,
    align_corners: bool,
    scale_factors: Sequence[float] | None,
) -> bool:
    if x.dtype is torch.float64:
        return True
    if output_size is not None or scale_factors is None:
        return False
    pairs = zip(x.shape[2:], scale_factors, strict=True)
    return not all(
        scales_exactly_in_single(size, factor) and not may_stay(size, factor)
        for size, factor in pairs
    )


def _places(x: Tensor, axis: int, wanted: Size, factor: Factor, *, align: bool) -> Tensor:
    """Return where outputs are between the inputs of an axis, of shape [wanted]."""
    computed = torch.float64 if x.dtype is torch.float64 else torch.float32
    index = torch.arange(wanted, dtype=torch.int64, device=x.device).to(computed)
    if not align and factor is not None:
        return (index + 0.5) * inverse(factor, index) - 0.5
    inputs, outputs = (number(size, computed, x.device) for size in (x.shape[axis], wanted))
    if not align:
        return (index + 0.5) * (inputs / outputs) - 0.5
    return index * ((inputs - 1) / torch.clamp(outputs - 1, min=1.0))


def _taken(x: Tensor, axis: int, places: Tensor) -> Tensor:
    last = number(x.shape[axis], torch.float32, x.device).to(torch.int64) - 1
    places = torch.maximum(torch.minimum(places, last), torch.zeros_like(last))
    return x.index_select(axis, places)


def linear(x: Tensor, axis: int, places: Tensor, weight_shape: Sequence[int]) -> Tensor:
    places = torch.clamp(places, min=0.0)
    first = torch.floor(places)
    share = (places - first).reshape(weight_shape).to(x.dtype)
    low, high = (_taken(x, axis, first.to(torch.int64) + step) for step in (0, 1))
    return low * (1 - share) + high * share


def _copied(x: Tensor, resized: Tensor, axis: int) -> Tensor:
    """Return x where the size of the axis has stayed the same, otherwise what was resized."""
    size, wanted = (number(own.shape[axis], torch.int64, x.device) for own in (x, resized))
    index = torch.arange(resized.shape[axis], dtype=torch.int64, device=x.device)
    return torch.where(
        size == wanted, x.index_select(axis, torch.minimum(index, size - 1)), resized
    )


def cubic(x: Tensor, axis: int, places: Tensor, weight_shape: Sequence[int]) -> Tensor:
    first = torch.floor(places)
    share = places - first
    total = torch.zeros((), dtype=x.dtype, device=x.device)
    for step in (-1, 0, 1, 2):
        weight = _keys((share - step).abs(), near=step in (0, 1))
        taken = _taken(x, axis, first.to(torch.int64) + step)
        total = total + taken * weight.reshape(weight_shape).to(x.dtype)
    return total


def _keys(x: Tensor, *, near: bool) -> Tensor:
    if near:
        return ((_CUBIC + 2) * x - (_CUBIC + 3)) * x * x + 1
    return _CUBIC * (((x - 5) * x + 8) * x - 4)


def resized(
    interpolate: Interpolate,
    x: Tensor,
    sizes: Sequence[Size],
    factors: Sequence[Factor],
    *,
    align: bool,
) -> Tensor:
    """Return x at the sizes, interpolated along one axis after the other."""
    moved = x.to(torch.float32) if x.dtype in HALVES else x
    # Widths first, as torch does: the order decides how sums are rounded.
    for axis in reversed(range(2, x.dim())):
        wanted, factor = sizes[axis - 2], factors[axis - 2]
        places = _places(moved, axis, wanted, factor, align=align)
        weight_shape = [-1, *(1 for _ in range(axis + 1, x.dim()))]
        found = interpolate(moved, axis, places, weight_shape)
        may_copy = interpolate is linear and factor is not None
        copies = may_copy and may_stay(x.shape[axis], factor)  # type: ignore[arg-type]
        moved = _copied(moved, found, axis) if copies else found
    return moved.to(x.dtype)


def _resizes(interpolate: Interpolate) -> Callable[..., Tensor]:
    def by_factor(
        x: Tensor,
        output_size: Sequence[Size] | None,
        align_corners: bool,
        scale_factors: Sequence[float] | None,
    ) -> Tensor:
        if output_size is not None:
            unknown = [None] * (x.dim() - 2)
            return resized(interpolate, x, output_size, unknown, align=align_corners)
        assert scale_factors is not None
        sizes = scaled_sizes(x.shape[2:], scale_factors)
        return resized(interpolate, x, sizes, scale_factors, align=align_corners)

    return by_factor


for _name, _interpolate in (
    ("linear1d", linear),
    ("bilinear2d", linear),
    ("trilinear3d", linear),
    ("bicubic2d", cubic),
):
    FAMILY.decomposes(
        f"aten::upsample_{_name}.vec",
        defect="Resize rounds size · factor in float32, interpolates sizes that stay; no float64",
        method="means of the neighbours along each axis",
        accuracy="1e-6 (float32)",
        applies=_differs,
    )(_resizes(_interpolate))
