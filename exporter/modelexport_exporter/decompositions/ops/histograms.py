"""Histograms whose bins are found by arithmetic, as PyTorch does, not by comparing with edges."""

from __future__ import annotations

import torch
from torch import Tensor

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
