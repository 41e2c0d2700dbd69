"""Options that are plain integers in torch's schemas, and made of the sizes of dynamic dims.

torch.export takes their values at the example's size for constants.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
import torch.nn.functional as F  # noqa: N812
from torch import Tensor

from modelexport_exporter.decompositions.capture.registry import (
    Replacements,
    Result,
    is_open,
)
from modelexport_exporter.decompositions.ops.histograms import histc as histogram

CALLS = Replacements()


@CALLS.replaces("one_hot", F.one_hot)
def one_hot(tensor: Tensor, num_classes: int = -1) -> Result:
    if not is_open(num_classes):
        return NotImplemented
    classes = torch.arange(num_classes, dtype=tensor.dtype, device=tensor.device)
    return (tensor.unsqueeze(-1) == classes).to(torch.int64)


@CALLS.replaces("unfold", Tensor.unfold)
def unfold(x: Tensor, dimension: int, size: int, step: int) -> Result:
    if x.dim() == 0 or not (is_open(size) or is_open(step)):
        return NotImplemented
    axis = dimension % x.dim()
    count = (x.shape[axis] - size) // step + 1
    places = torch.arange(count, device=x.device).unsqueeze(1) * step
    places = places + torch.arange(size, device=x.device)
    rows = x.movedim(axis, -1).index_select(-1, places.reshape(-1))
    return rows.reshape(*rows.shape[:-1], count, size).movedim(-2, axis)


@CALLS.replaces("histc", torch.histc, Tensor.histc)
def histc(input: Tensor, bins: int = 100, min: float = 0, max: float = 0) -> Result:  # noqa: A002
    return histogram(input, bins, min, max) if is_open(bins) else NotImplemented


@CALLS.replaces("vander", torch.vander)
def vander(x: Tensor, N: int | None = None, increasing: bool = False) -> Result:  # noqa: N803
    if not is_open(x.shape[0] if N is None else N):
        return NotImplemented
    count = x.shape[0] if N is None else N
    powers = torch.arange(count, device=x.device)
    whole = x if x.dtype.is_floating_point else x.to(torch.int64)
    return whole.unsqueeze(-1) ** (powers if increasing else count - 1 - powers)


@CALLS.replaces("diagonal", torch.diagonal, Tensor.diagonal)
def diagonal(x: Tensor, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Result:
    return _diagonal(x, offset, dim1, dim2) if is_open(offset) else NotImplemented


def _diagonal(x: Tensor, offset: int, dim1: int, dim2: int) -> Tensor:
    square = x.movedim((dim1, dim2), (-2, -1))
    rows, columns = square.shape[-2:]
    row, column = torch.sym_max(-offset, 0), torch.sym_max(offset, 0)
    length = torch.sym_max(torch.sym_min(rows - row, columns - column), 0)
    places = torch.arange(length, device=x.device)
    flat = square.reshape(*square.shape[:-2], rows * columns)
    return flat.index_select(-1, (places + row) * columns + places + column)


@CALLS.replaces("diag", torch.diag, Tensor.diag)
def diag(x: Tensor, diagonal: int = 0) -> Result:
    if not is_open(diagonal):
        return NotImplemented
    return _diagonal(x, diagonal, 0, 1) if x.dim() == 2 else diag_embed(x, diagonal)


@CALLS.replaces("diag_embed", torch.diag_embed, Tensor.diag_embed)
def diag_embed(x: Tensor, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Result:
    if not is_open(offset):
        return NotImplemented
    row, column = torch.sym_max(-offset, 0), torch.sym_max(offset, 0)
    length = x.shape[-1]
    places = torch.arange(length + row + column, device=x.device)
    inside = places.unsqueeze(0) - places.unsqueeze(1) == offset
    rows = x.index_select(-1, (places - row).clamp(0, length - 1)).unsqueeze(-1)
    return torch.where(inside, rows, torch.zeros_like(rows)).movedim((-2, -1), (dim1, dim2))


@CALLS.replaces("affine_grid", F.affine_grid)
def affine_grid(theta: Tensor, size: Sequence[int], align_corners: bool | None = None) -> Result:
    if not any(map(is_open, size)) or theta.dim() != 3:
        return NotImplemented
    lengths = list(size[2:])
    axes = []
    for axis, length in enumerate(lengths):
        places = torch.arange(length, dtype=theta.dtype, device=theta.device)
        last = torch.ones_like(places) * (length - 1)
        at = (2 * places - last) / (last.clamp(min=1) if align_corners else last + 1)
        axes.append(at.reshape([-1 if other == axis else 1 for other in range(len(lengths))]))
    grids = torch.broadcast_tensors(*reversed(axes))  # type: ignore[no-untyped-call]
    points = torch.stack([*grids, _ones(axes)], -1)
    flat = points.reshape(1, -1, len(lengths) + 1) @ theta.mT
    return flat.reshape(theta.shape[0], *lengths, len(lengths))


def _ones(axes: Sequence[Tensor]) -> Tensor:
    return torch.ones_like(sum(axes[1:], start=axes[0]))


@CALLS.replaces("fft_fftfreq", torch.fft.fftfreq)
def fftfreq(n: int, d: float = 1.0, **options: Any) -> Result:  # noqa: ANN401
    if not is_open(n):
        return NotImplemented
    places = torch.arange(n, device=options.get("device"))
    signed = torch.where(places < (n + 1) // 2, places, places - n)
    return signed.to(options.get("dtype") or torch.get_default_dtype()) / (n * d)


@CALLS.replaces("fft_rfftfreq", torch.fft.rfftfreq)
def rfftfreq(n: int, d: float = 1.0, **options: Any) -> Result:  # noqa: ANN401
    if not is_open(n):
        return NotImplemented
    places = torch.arange(n // 2 + 1, device=options.get("device"))
    return places.to(options.get("dtype") or torch.get_default_dtype()) / (n * d)
