"""Nearest-neighbour resizing, with the pixels that PyTorch picks.

PyTorch takes input floor(i · (inputs / outputs)), ONNX's Resize floor(i / (outputs / inputs)), both
in the element type. Where i · inputs is a multiple of outputs, rounding may take either side: of
all pairs of sizes up to 64, 3 % differ in a pixel, shrinking 14 to 2 among them. Of images PyTorch
copies a size that stays the same or doubles, whatever the factor is: 8 by 1.1, 8 by 2.05.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from modelexport_exporter.decompositions.registry import Family
from modelexport_exporter.decompositions.sizes import Factor, Size, inverse, number, scaled_sizes

FAMILY = Family("Nearest-neighbour resizing", __doc__)

IMAGE = 4
"""Dims of a batch of images."""


def pick(x: Tensor, sizes: Sequence[Size], factors: Sequence[Factor]) -> Tensor:
    """Return the pixels that are nearest, axis by axis."""
    for axis, (wanted, factor) in enumerate(zip(sizes, factors, strict=True), start=2):
        x = x.index_select(axis, _nearest(x, axis, wanted, factor))
    return x


def _nearest(x: Tensor, axis: int, wanted: Size, factor: Factor) -> Tensor:
    """Return the places along an axis that are taken, int64 of shape [wanted]."""
    computed = torch.float64 if x.dtype is torch.float64 else torch.float32
    inputs, outputs = (number(size, computed, x.device) for size in (x.shape[axis], wanted))
    step = inputs / outputs if factor is None else torch.ones_like(inputs) * inverse(factor, inputs)
    places = torch.arange(wanted, dtype=torch.int64, device=x.device).to(computed)
    found = torch.floor(torch.mul(places, step))
    if factor is not None and x.dim() == IMAGE:
        found = torch.where(outputs == 2 * inputs, torch.floor(places / 2), found)
        found = torch.where(outputs == inputs, places, found)
    return torch.minimum(found.to(torch.int64), inputs.to(torch.int64) - 1)


def _is_multiple(size: Size, wanted: Size, factor: float | None) -> bool:
    """Return whether pixels are repeated a whole number of times, which Resize does, too."""
    if factor:
        return float(factor).is_integer()
    return isinstance(size, int) and isinstance(wanted, int) and size > 0 and wanted % size == 0


def _rounds(x: Tensor, output_size: Sequence[Size], *factors: float | None) -> bool:
    known = factors or (None,) * len(output_size)
    return x.dtype is torch.float64 or not all(map(_is_multiple, x.shape[2:], output_size, known))


def _rounds_by_factor(
    x: Tensor, output_size: Sequence[Size] | None, scale_factors: Sequence[float] | None
) -> bool:
    if scale_factors is not None and output_size is None:
        return x.dtype is torch.float64 or not all(
            float(factor).is_integer() for factor in scale_factors
        )
    return output_size is not None and _rounds(x, output_size)


def _to_size(x: Tensor, output_size: Sequence[Size], *factors: float | None) -> Tensor:
    return pick(x, output_size, factors or (None,) * len(output_size))


def _by_factor(
    x: Tensor, output_size: Sequence[Size] | None, scale_factors: Sequence[float] | None
) -> Tensor:
    if output_size is not None:
        return _to_size(x, output_size)
    assert scale_factors is not None
    return _to_size(x, scaled_sizes(x.shape[2:], scale_factors), *scale_factors)


def _register(name: str, function: Callable[..., Tensor], applies: Callable[..., bool]) -> None:
    FAMILY.decomposes(
        name,
        defect="Resize takes another pixel for 3 % of all pairs of sizes, and no float64",
        report="https://github.com/microsoft/onnxruntime/issues/12098",
        method="the nearest places along each axis, computed as PyTorch does, picked",
        applies=applies,
    )(function)


for _dims in (1, 2, 3):
    _register(f"aten::upsample_nearest{_dims}d", _to_size, _rounds)
    _register(f"aten::upsample_nearest{_dims}d.vec", _by_factor, _rounds_by_factor)
