"""Resizing with antialias: torch.onnx ignores scale factors and align_corners.

As in torch's separable resampling: output i of n lies at (i + 1/2) · scale, and is the mean of the
inputs around it by a triangle (bilinear) or by Keys' cubic of -1/2 (bicubic), which is stretched by
the scale when the image shrinks.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from modelexport_exporter.decompositions.dtypes import HALVES
from modelexport_exporter.decompositions.registry import Family
from modelexport_exporter.decompositions.sizes import Size, number, scaled_sizes

FAMILY = Family("Antialiased resizing", __doc__)

_CUBIC = -0.5


def _triangle(x: Tensor) -> Tensor:
    return (1 - x.abs()).clamp(min=0.0, max=1.0)


def _cubic(x: Tensor) -> Tensor:
    x = x.abs()
    near = ((_CUBIC + 2) * x - (_CUBIC + 3)) * x * x + 1
    far = _CUBIC * (((x - 5) * x + 8) * x - 4)
    return torch.where(x < 1, near, torch.where(x < 2, far, torch.zeros_like(x)))


def _scale(size: Size, wanted: Size, factor: float | None, like: Tensor, *, align: bool) -> Tensor:
    """Return how many inputs lie between two outputs, a scalar tensor."""
    inputs, outputs = (number(entry, torch.float64, like.device) for entry in (size, wanted))
    if align:
        gaps = torch.clamp(outputs - 1, min=1.0)
        return torch.where(outputs > 1, (inputs - 1) / gaps, torch.zeros_like(gaps))
    return torch.full_like(inputs, 1 / factor) if factor else inputs / outputs


def _weights(
    size: Size,
    wanted: Size,
    scale: Tensor,
    support: float,
    kernel: Callable[[Tensor], Tensor],
    dtype: torch.dtype,
) -> Tensor:
    """Return the weight of each input (columns) for each output (rows)."""
    stretch = torch.clamp(scale, min=1.0)
    centre = (torch.arange(wanted, device=scale.device).to(dtype).unsqueeze(1) + 0.5) * scale
    place = torch.arange(size, device=scale.device).unsqueeze(0)
    first = torch.floor(centre - support * stretch + 0.5)
    beyond = torch.floor(centre + support * stretch + 0.5)
    weight = kernel((place - centre + 0.5) / stretch)
    weight = torch.where((place >= first) & (place < beyond), weight, torch.zeros_like(weight))
    return weight / weight.sum(1, keepdim=True)


def _resize(
    x: Tensor,
    sizes: Sequence[Size],
    factors: Sequence[float | None],
    *,
    align: bool,
    cubic: bool,
) -> Tensor:
    kernel, support = (_cubic, 2.0) if cubic else (_triangle, 1.0)
    # Widths first, as torch does: the order decides how sums are rounded.
    for axis in (-1, -2):
        scale = _scale(x.shape[axis], sizes[axis], factors[axis], x, align=align)
        dtype = torch.float64 if x.dtype is torch.float64 else torch.float32
        weights = _weights(x.shape[axis], sizes[axis], scale, support, kernel, dtype)
        moved = x.to(torch.float32) if x.dtype in HALVES else x
        product = moved.movedim(axis, -1) @ weights.mT.to(moved.dtype)
        x = product.movedim(-1, axis).to(x.dtype)
    return x


def _resizes(*, cubic: bool) -> tuple[Callable[..., Tensor], Callable[..., Tensor]]:
    def to_size(
        x: Tensor,
        output_size: Sequence[Size],
        align_corners: bool,
        scales_h: float | None = None,
        scales_w: float | None = None,
    ) -> Tensor:
        factors = (scales_h, scales_w)
        return _resize(x, output_size, factors, align=align_corners, cubic=cubic)

    def by_factor(
        x: Tensor,
        output_size: Sequence[Size] | None,
        align_corners: bool,
        scale_factors: Sequence[float] | None,
    ) -> Tensor:
        if output_size is not None or scale_factors is None:
            assert output_size is not None
            return to_size(x, output_size, align_corners)
        sizes = scaled_sizes(x.shape[-2:], scale_factors)
        return to_size(x, sizes, align_corners, *scale_factors)

    return to_size, by_factor


for _name, _is_cubic in (("bilinear", False), ("bicubic", True)):
    _to_size, _by_factor = _resizes(cubic=_is_cubic)
    _register = {
        "defect": "torch.onnx ignores scale factors and align_corners",
        "report": "https://github.com/microsoft/onnxscript/pull/2916",
        "method": "product with the matrix of the filter's weights, width then height",
        "accuracy": "1e-6 (float32)",
    }
    FAMILY.decomposes(f"aten::_upsample_{_name}2d_aa", **_register)(_to_size)  # type: ignore[arg-type]
    FAMILY.decomposes(f"aten::_upsample_{_name}2d_aa.vec", **_register)(_by_factor)  # type: ignore[arg-type]
