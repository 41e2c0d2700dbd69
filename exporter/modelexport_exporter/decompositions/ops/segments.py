"""Reductions of the rows of segments that follow each other."""

from __future__ import annotations

import torch
from torch import Tensor

from modelexport_exporter.decompositions.ops.searching import searchsorted
from modelexport_exporter.decompositions.registry import Family

FAMILY = Family("Segments", __doc__)

_REDUCTIONS = {"sum": "sum", "mean": "sum", "max": "amax", "min": "amin", "prod": "prod"}
_NEUTRAL = {"sum": 0.0, "mean": 0.0, "max": -float("inf"), "min": float("inf"), "prod": 1.0}


def _has_rows(
    x: Tensor,
    reduce: str,
    *,
    lengths: Tensor | None = None,
    indices: Tensor | None = None,
    offsets: Tensor | None = None,
    axis: int = 0,
    **_: object,
) -> bool:
    """Return whether segments are of rows: behind another dim each row has its own segments."""
    given = offsets if lengths is None else lengths
    return given is not None and given.dim() == 1 and axis == 0 and indices is None


@FAMILY.decomposes(
    "aten::segment_reduce",
    method="scatter_reduce with the segment of each row",
    accuracy="exact; sums 1e-6 (float32)",
    applies=_has_rows,
)
def segment_reduce(
    x: Tensor,
    reduce: str,
    *,
    lengths: Tensor | None = None,
    indices: Tensor | None = None,
    offsets: Tensor | None = None,
    axis: int = 0,
    unsafe: bool = False,
    initial: float | None = None,
) -> Tensor:
    if lengths is None:
        assert offsets is not None
        lengths, first = offsets[1:] - offsets[:-1], offsets[:1]
    else:
        first = torch.zeros(1, dtype=lengths.dtype, device=x.device)
    ends = first + torch.cumsum(lengths, 0)
    rows = torch.arange(x.shape[0], dtype=ends.dtype, device=x.device)
    segment = searchsorted(ends, rows, right=True)
    count = lengths.shape[0]
    # Rows before the first segment and behind the last one are in none: they go into one more.
    segment = torch.where(rows < first, torch.full_like(segment, 1) * count, segment)
    shape = [-1] + [1] * (x.dim() - 1)
    start = _NEUTRAL[reduce] if initial is None else float(initial)
    filled = torch.full((count + 1, *x.shape[1:]), start, dtype=x.dtype, device=x.device)
    index = segment.reshape(shape).expand(x.shape)
    result = filled.scatter_reduce(0, index, x, _REDUCTIONS[reduce])[:count]
    if reduce != "mean":
        return result
    sizes = lengths.reshape(shape).to(x.dtype)
    empty = result if initial is not None else torch.full_like(result, float("nan"))
    return torch.where(sizes > 0, result / sizes, empty)
