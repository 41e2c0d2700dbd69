"""Runs of equal elements: unique_consecutive and repeat_interleave."""

from __future__ import annotations

import torch
from torch import Tensor

from modelexport_exporter.decompositions.registry import Family

FAMILY = Family("Runs of equal elements", __doc__)


@FAMILY.decomposes(
    "aten::unique_consecutive",
    method="where an element differs from the one before, which NaN does always",
)
def unique_consecutive(
    x: Tensor, return_inverse: bool = False, return_counts: bool = False, dim: int | None = None
) -> tuple[Tensor, Tensor, Tensor]:
    axis = 0 if dim is None else dim
    whole = x.reshape(-1) if dim is None else x.movedim(dim, 0)
    rows = whole.unsqueeze(1).flatten(1)
    differs = (rows[1:] != rows[:-1]).any(1)
    begins = torch.cat([torch.ones_like(rows[:1, 0], dtype=torch.bool), differs])
    values = whole[begins].movedim(0, axis)
    run = begins.to(torch.int64).cumsum(0) - 1
    counts = torch.zeros_like(run[begins]).scatter_add(0, run, torch.ones_like(run))
    nothing = torch.zeros(0, dtype=torch.int64, device=x.device)
    inverse = run.reshape(x.shape) if dim is None else run
    return values, inverse if return_inverse else nothing, counts if return_counts else nothing


@FAMILY.decomposes(
    "aten::repeat_interleave.Tensor",
    defect="torch.onnx refuses output_size",
    method="count of the runs that ended before each position, where output_size is given",
    applies=lambda _, *, output_size=None: output_size is not None,
)
def repeat_interleave(repeats: Tensor, *, output_size: int | None = None) -> Tensor:
    assert output_size is not None
    ends = repeats.to(torch.int64).cumsum(0)
    position = torch.arange(output_size, device=repeats.device)
    return (position.unsqueeze(1) >= ends).to(repeats.dtype).sum(1, dtype=repeats.dtype)


@FAMILY.decomposes(
    "aten::repeat_interleave.self_int",
    defect="torch.onnx writes a count that follows a size at the wrong place of the shape",
    method="expanded along a new dim",
    applies=lambda _, repeats, *rest, **options: not isinstance(repeats, int),
)
def repeat_interleave_each(
    x: Tensor, repeats: int, dim: int | None = None, *, output_size: int | None = None
) -> Tensor:
    if dim is None:
        x, dim = x.reshape(-1), 0
    dim %= x.dim()
    expanded = x.unsqueeze(dim + 1).expand(*x.shape[: dim + 1], repeats, *x.shape[dim + 1 :])
    return expanded.reshape(*x.shape[:dim], x.shape[dim] * repeats, *x.shape[dim + 1 :])


FAMILY.composites |= {"aten::repeat_interleave.self_Tensor"}
