"""Padding by the edges with negative amounts, which crop."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from modelexport_exporter.decompositions.registry import Family

FAMILY = Family("Padding", __doc__)


def _crops_edges(
    x: Tensor, pad: Sequence[int], mode: str = "constant", value: float | None = None
) -> bool:
    return mode == "replicate" and any(type(amount) is int and amount < 0 for amount in pad)


@FAMILY.decomposes(
    "aten::pad",
    defect="onnxruntime crops before it pads: nothing may be left of which to repeat the edge",
    method="rows by their index, clamped",
    applies=_crops_edges,
)
def pad_with_edges(
    x: Tensor, pad: Sequence[int], mode: str = "constant", value: float | None = None
) -> Tensor:
    for place in range(0, len(pad), 2):
        dim, before, after = x.dim() - 1 - place // 2, pad[place], pad[place + 1]
        size = x.shape[dim]
        rows = torch.arange(before + size + after, device=x.device) - before
        x = x.index_select(dim, rows.clamp(0, size - 1))
    return x
