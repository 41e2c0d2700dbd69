"""Rows of a table, reduced by bags of any length, without a loop over the bags."""

from __future__ import annotations

import torch
from torch import Tensor

from modelexport_exporter.decompositions.registry import Family

FAMILY = Family("Bags of embeddings", __doc__)

_SUM, _MEAN, _MAX = 0, 1, 2


@FAMILY.decomposes(
    "aten::embedding_bag",
    "aten::embedding_bag.padding_idx",
    defect="torch.onnx loops over the bags, in float32, and takes no indices of 32 bits",
    method="the bag of each index from the offsets, by a running count; index_add, scatter_reduce",
)
def embedding_bag(
    weight: Tensor,
    indices: Tensor,
    offsets: Tensor,
    scale_grad_by_freq: bool = False,
    mode: int = _SUM,
    sparse: bool = False,
    per_sample_weights: Tensor | None = None,
    include_last_offset: bool = False,
    padding_idx: int | None = None,
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    places, starts = indices.reshape(-1).to(torch.int64), offsets.to(torch.int64)
    if include_last_offset:
        starts = starts[:-1]  # of which torch does not read the last one either
    bags = starts.shape[0]
    begun = torch.zeros(places.shape[0] + 1, dtype=torch.int64, device=weight.device)
    begun = begun.index_add(0, starts, torch.ones_like(starts))
    bag = begun.cumsum(0)[: places.shape[0]] - 1
    kept = torch.ones_like(places, dtype=torch.bool)
    if padding_idx is not None:
        kept = places != (padding_idx + weight.shape[0] if padding_idx < 0 else padding_idx)
    sizes = torch.zeros(bags, dtype=torch.int64, device=weight.device)
    sizes = sizes.index_add(0, bag, kept.to(torch.int64))
    rows = weight.index_select(0, places)
    if per_sample_weights is not None:
        rows = rows * per_sample_weights.reshape(-1, 1)
    if mode == _MAX:
        result = _largest(rows, kept, bag, sizes)
    else:
        rows = torch.where(kept[:, None], rows, torch.zeros_like(rows))
        result = torch.zeros(bags, weight.shape[1], dtype=weight.dtype, device=weight.device)
        result = result.index_add(0, bag, rows)
        if mode == _MEAN:
            result = result / sizes.clamp(min=1)[:, None].to(weight.dtype)
    return result, bag, sizes, sizes


def _largest(rows: Tensor, kept: Tensor, bag: Tensor, sizes: Tensor) -> Tensor:
    """Return the largest elements of each bag; 0 for a bag without rows."""
    rows = torch.where(kept[:, None], rows, torch.full_like(rows, float("-inf")))
    shape = (sizes.shape[0], rows.shape[1])
    result = torch.full(shape, float("-inf"), dtype=rows.dtype, device=rows.device)
    result = result.scatter_reduce(0, bag[:, None].expand(-1, rows.shape[1]), rows, "amax")
    return torch.where((sizes > 0)[:, None], result, torch.zeros_like(result))
