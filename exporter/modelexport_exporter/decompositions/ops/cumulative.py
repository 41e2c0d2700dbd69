"""Running maxima, minima, products and log-sums: prefix scans of log2(length) steps.

Hillis and Steele's scan: step k combines each element with the one 2^k before it. The number of
steps follows from the largest length that the dim may take, so the graph holds for any length.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
import torch.nn.functional as F  # noqa: N812
from torch import Tensor

from modelexport_exporter.decompositions.registry import Family
from modelexport_exporter.decompositions.sizes import largest

FAMILY = Family("Cumulative operators", __doc__)

_METHOD = "Hillis-Steele scan over the longest length that the dim may take"


def _steps(x: Tensor) -> range:
    return range(max(largest(x.shape[-1]) - 1, 0).bit_length())


def _earlier(x: Tensor, distance: int, fill: float) -> Tensor:
    """Return for each element the one `distance` before it in the last dim."""
    return F.pad(x, (distance, 0), value=fill)[..., : x.shape[-1]]


def _lowest(x: Tensor) -> float:
    return -float("inf") if x.dtype.is_floating_point else torch.iinfo(x.dtype).min


def _running_extreme(
    x: Tensor, dim: int, fill: float, keeps: Callable[[Tensor, Tensor], Tensor]
) -> tuple[Tensor, Tensor]:
    """Return the running extreme and where it was met last; NaN wins over everything."""
    if x.dim() == 0:
        return x.clone(), torch.zeros_like(x, dtype=torch.int64)
    values = x.movedim(dim, -1)
    indices = torch.arange(values.shape[-1], device=x.device).expand(values.shape)
    for step in _steps(values):
        before = _earlier(values, 1 << step, fill)
        keep = keeps(values, before)
        if x.dtype.is_floating_point:
            keep = keep | torch.isnan(values)
        indices = torch.where(keep, indices, _earlier(indices, 1 << step, 0))
        values = torch.where(keep, values, before)
    return values.movedim(-1, dim), indices.movedim(-1, dim)


@FAMILY.decomposes("aten::cummax", method=_METHOD)
def cummax(x: Tensor, dim: int) -> tuple[Tensor, Tensor]:
    if x.dtype == torch.bool:
        values, indices = cummax(x.to(torch.int32), dim)
        return values.to(torch.bool), indices
    return _running_extreme(x, dim, _lowest(x), torch.ge)


@FAMILY.decomposes("aten::cummin", method=_METHOD)
def cummin(x: Tensor, dim: int) -> tuple[Tensor, Tensor]:
    if x.dtype.is_floating_point:
        return _running_extreme(x, dim, float("inf"), torch.le)
    # The complement -x - 1 turns the order round, and the largest int64 is no float to pad with.
    values, indices = cummax(~x, dim)
    return ~values, indices


@FAMILY.decomposes("aten::cumprod", method=_METHOD + "; float32 is multiplied in float64")
def cumprod(x: Tensor, dim: int, *, dtype: torch.dtype | None = None) -> Tensor:
    # Partial products that the sequential one never forms would overflow in float32.
    result = dtype or (x.dtype if x.dtype.is_floating_point else torch.int64)
    wide = torch.float64 if result.is_floating_point else torch.int64
    if x.dim() == 0:
        return x.to(result)
    values = x.to(result).to(wide).movedim(dim, -1)
    for step in _steps(values):
        values = values * _earlier(values, 1 << step, 1)
    return values.movedim(-1, dim).to(result)


@FAMILY.decomposes(
    "aten::logcumsumexp",
    defect="the exponentials overflow, or underflow to -inf",
    report="https://github.com/microsoft/onnxscript/pull/281",
    method=_METHOD
    + " with logaddexp; the sum of exponentials about the overall maximum underflows",
    accuracy="1e-6 (float32)",
)
def logcumsumexp(x: Tensor, dim: int) -> Tensor:
    if x.dim() == 0:
        return x.clone()
    values = x.movedim(dim, -1)
    for step in _steps(values):
        before = _earlier(values, 1 << step, -float("inf"))
        high, low = torch.maximum(values, before), torch.minimum(values, before)
        gap = torch.where(high == low, torch.zeros_like(high), low - high)
        values = high + torch.log1p(torch.exp(gap))
    return values.movedim(-1, dim)
