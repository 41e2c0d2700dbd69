"""Histograms: of one row of bins, and of bins in several dims."""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
from torch import Tensor

from modelexport_exporter.decompositions.ops.searching import searchsorted
from modelexport_exporter.decompositions.registry import Family

FAMILY = Family("Histograms", __doc__)


def _is_float(x: Tensor, *_: object, **__: object) -> bool:
    return x.dtype in (torch.float32, torch.float64)


@FAMILY.decomposes(
    "aten::histc",
    defect="torch.onnx compares with edges, which round otherwise, and has no limits from the data",
    method="place (x - min) · bins / (max - min), rounded down, and counted",
    applies=_is_float,
)
def histc(x: Tensor, bins: int = 100, min: float = 0, max: float = 0) -> Tensor:  # noqa: A002
    flat = x.reshape(-1)
    if min == max:
        low, high = flat.amin(), flat.amax()
        single = low == high
        low, high = torch.where(single, low - 1, low), torch.where(single, high + 1, high)
    else:
        low, high = (torch.full((), end, dtype=x.dtype, device=x.device) for end in (min, max))
    inside = (flat >= low) & (flat <= high)
    place = ((flat - low) * bins / (high - low)).to(torch.int64)
    # The last bin has both of its ends; what lies outside is counted behind it, and left out.
    place = torch.where(inside, torch.clamp(place, max=bins - 1), bins)
    counts = torch.zeros(bins + 1, dtype=x.dtype, device=x.device)
    return counts.index_add(0, place, torch.ones_like(flat))[:bins]


_COMPARED = "comparison with the edges; memory grows as values times edges"


@FAMILY.decomposes(
    "aten::histogram.bins_tensor", method=_COMPARED, accuracy="weights 1e-6 (float32)"
)
def histogram_of_edges(
    x: Tensor, bins: Tensor, *, weight: Tensor | None = None, density: bool = False
) -> tuple[Tensor, Tensor]:
    flat = x.reshape(-1, 1)
    return _counted(flat, [bins], weight, density=density), bins.clone()


@FAMILY.decomposes("aten::histogram.bin_ct", method=_COMPARED, accuracy="weights 1e-6 (float32)")
def histogram(
    x: Tensor,
    bins: int = 100,
    *,
    range: Sequence[float] | None = None,  # noqa: A002 (torch's name)
    weight: Tensor | None = None,
    density: bool = False,
) -> tuple[Tensor, Tensor]:
    flat = x.reshape(-1, 1)
    (edges,) = _edges(flat, [bins], range)
    return _counted(flat, [edges], weight, density=density), edges


@FAMILY.decomposes("aten::_histogramdd_bin_edges", method="linspace from the least to the largest")
def histogramdd_bin_edges(
    x: Tensor,
    bins: Sequence[int],
    *,
    range: Sequence[float] | None = None,  # noqa: A002
    weight: Tensor | None = None,
    density: bool = False,
) -> list[Tensor]:
    return _edges(x.reshape(-1, x.shape[-1]), bins, range)


@FAMILY.decomposes(
    "aten::_histogramdd_from_bin_cts", method=_COMPARED, accuracy="weights 1e-6 (float32)"
)
def histogramdd_from_bin_cts(
    x: Tensor,
    bins: Sequence[int],
    *,
    range: Sequence[float] | None = None,  # noqa: A002
    weight: Tensor | None = None,
    density: bool = False,
) -> Tensor:
    points = x.reshape(-1, x.shape[-1])
    return _counted(points, _edges(points, bins, range), weight, density=density)


@FAMILY.decomposes(
    "aten::_histogramdd_from_bin_tensors", method=_COMPARED, accuracy="weights 1e-6 (float32)"
)
def histogramdd_from_bin_tensors(
    x: Tensor, bins: Sequence[Tensor], *, weight: Tensor | None = None, density: bool = False
) -> Tensor:
    return _counted(x.reshape(-1, x.shape[-1]), bins, weight, density=density)


FAMILY.composites |= {"aten::histogramdd"}


def _edges(points: Tensor, bins: Sequence[int], limits: Sequence[float] | None) -> list[Tensor]:
    """Return bins + 1 edges for each column of the points."""
    found = []
    for column, count in enumerate(bins):
        if limits is None:
            low, high = points[:, column].amin(), points[:, column].amax()
        else:
            low, high = (
                torch.full((), end, dtype=points.dtype, device=points.device)
                for end in limits[2 * column : 2 * column + 2]
            )
        # As NumPy: a range of nothing is one of a half to either side.
        wider = torch.where(low == high, 0.5, 0.0).to(points.dtype)
        low, high = low - wider, high + wider
        steps = torch.arange(count + 1, dtype=points.dtype, device=points.device)
        step = (high - low) / count
        # Counted from the nearer end, as torch.linspace.
        below = steps < (count + 1) // 2
        found.append(torch.where(below, low + step * steps, high - step * (count - steps)))
    return found


def _counted(
    points: Tensor, edges: Sequence[Tensor], weight: Tensor | None, *, density: bool
) -> Tensor:
    """Return the weights of the points in each bin; the last one of a row has both of its ends."""
    place = torch.zeros_like(points[:, 0], dtype=torch.int64)
    inside = torch.ones_like(place, dtype=torch.bool)
    bins = [len(row) - 1 for row in edges]
    for column, (row, count) in enumerate(zip(edges, bins, strict=True)):
        x = points[:, column].contiguous()
        inside = inside & (x >= row[0]) & (x <= row[-1])
        place = place * count + torch.clamp(searchsorted(row, x, right=True) - 1, 0, count - 1)
    weights = torch.ones_like(points[:, 0]) if weight is None else weight.reshape(-1)
    weights = torch.where(inside, weights, torch.zeros_like(weights))
    flat = torch.zeros(math.prod(bins), dtype=points.dtype, device=points.device)
    counts = flat.index_add(0, place, weights).reshape(bins)
    if not density:
        return counts
    counts = counts / counts.sum()
    for column, row in enumerate(edges):
        shape = [-1 if at == column else 1 for at in range(len(edges))]
        counts = counts / (row[1:] - row[:-1]).reshape(shape)
    return counts
