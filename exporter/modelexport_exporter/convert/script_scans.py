"""Definitions of operators along a dim that torch's exporter of scripts lacks.

torch.jit.script compiles them, as those of `script_definitions.py`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, List, Optional, Tuple  # noqa: UP035 - torch.jit.script reads them

import torch
from torch import Tensor


def _diff(
    x: Tensor,
    n: int,
    dim: int,
    prepend: Optional[Tensor],  # noqa: UP045
    append: Optional[Tensor],  # noqa: UP045
) -> Tensor:
    if prepend is not None:
        x = torch.cat([prepend, x], dim)
    if append is not None:
        x = torch.cat([x, append], dim)
    for _ in range(n):
        size = x.size(dim)
        following, before = x.narrow(dim, 1, size - 1), x.narrow(dim, 0, size - 1)
        x = following != before if x.dtype == torch.bool else following - before
    return x


def _cummax(x: Tensor, dim: int) -> Tuple[Tensor, Tensor]:  # noqa: UP006
    if x.dim() == 0:
        return x, torch.zeros_like(x, dtype=torch.int64)
    # Hillis and Steele's scan, as `decompositions/ops/cumulative.py` has it.
    values = x.transpose(dim, -1)
    indices = torch.arange(values.size(-1)).expand(values.size())
    distance = 1
    while distance < values.size(-1):
        at = torch.clamp(torch.arange(values.size(-1)) - distance, min=0)
        earlier = values.index_select(-1, at)
        keep = (values >= earlier) | (values != values)  # noqa: PLR0124 - NaN
        indices = torch.where(keep, indices, indices.index_select(-1, at))
        values = torch.where(keep, values, earlier)
        distance = distance * 2
    return values.transpose(dim, -1), indices.transpose(dim, -1)


def _cummin(x: Tensor, dim: int) -> Tuple[Tensor, Tensor]:  # noqa: UP006
    # The least int64 has no positive counterpart: -x - 1 turns the order round.
    if x.is_floating_point():
        values, indices = _cummax(-x, dim)
        return -values, indices
    values, indices = _cummax(-1 - x, dim)
    return -1 - values, indices


def _trapezoid(y: Tensor, dx: float, dim: int) -> Tensor:
    size = y.size(dim)
    return (y.narrow(dim, 1, size - 1) + y.narrow(dim, 0, size - 1)).sum([dim]) * (dx / 2)


def _trapezoid_at(y: Tensor, x: Tensor, dim: int) -> Tensor:
    size = y.size(dim)
    width = x.narrow(-1, 1, size - 1) - x.narrow(-1, 0, size - 1)
    heights = y.transpose(dim, -1)
    both = heights.narrow(-1, 1, size - 1) + heights.narrow(-1, 0, size - 1)
    return (both * width).sum([-1]) / 2


def _msort(x: Tensor) -> Tensor:
    values: Tensor = torch.sort(x, dim=0)[0]
    return values


def _chunk(x: Tensor, chunks: int, dim: int) -> List[Tensor]:  # noqa: UP006
    # torch's own takes `chunks` for the number of parts, which may be smaller.
    size = (x.size(dim) + chunks - 1) // chunks
    return torch.split(x, size, dim)  # type: ignore[return-value]


ALONG_A_DIM: dict[str, Callable[..., Any]] = {
    "chunk": _chunk,
    "cummax": _cummax,
    "cummin": _cummin,
    "diff": _diff,
    "msort": _msort,
    "trapezoid.dx": _trapezoid,
    "trapezoid.x": _trapezoid_at,
}
"""Definitions by the names of the operators' schemas."""
