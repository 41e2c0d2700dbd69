"""Writing to and reading from positions, by operators that ONNX has."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from modelexport_exporter.decompositions.ops.arithmetic import broadcast
from modelexport_exporter.decompositions.registry import Family

FAMILY = Family("Scatter and gather", __doc__)

_REDUCTIONS = {"add": "sum", "multiply": "prod"}


@FAMILY.decomposes("aten::scatter.reduce", method="scatter_reduce")
def scatter_with(x: Tensor, dim: int, index: Tensor, src: Tensor, *, reduce: str) -> Tensor:
    return torch.scatter_reduce(x, dim, index, src, _REDUCTIONS[reduce])


@FAMILY.decomposes("aten::scatter.value_reduce", method="scatter_reduce")
def scatter_value_with(x: Tensor, dim: int, index: Tensor, value: float, *, reduce: str) -> Tensor:
    src = torch.full_like(index, value, dtype=x.dtype)
    return torch.scatter_reduce(x, dim, index, src, _REDUCTIONS[reduce])


@FAMILY.decomposes("aten::index_reduce", method="scatter_reduce with the index expanded")
def index_reduce(
    x: Tensor, dim: int, index: Tensor, source: Tensor, reduce: str, *, include_self: bool = True
) -> Tensor:
    shape = [1] * source.dim()
    if shape:
        shape[dim] = -1
    expanded = index.to(torch.int64).reshape(shape).expand(source.shape)
    return torch.scatter_reduce(x, dim, expanded, source, reduce, include_self=include_self)


@FAMILY.decomposes("aten::put", method="index_put on the flattened tensor")
def put(x: Tensor, index: Tensor, source: Tensor, accumulate: bool = False) -> Tensor:
    flat = x.reshape(-1)
    position = index.reshape(-1)
    position = torch.where(position < 0, position + flat.shape[0], position)
    return flat.index_put((position,), source.reshape(-1), accumulate).reshape(x.shape)


@FAMILY.decomposes(
    "aten::scatter_add",
    defect="onnxruntime's ScatterElements refuses numbers",
    method="of one element",
    applies=lambda x, *_: x.dim() == 0,
)
def scatter_add_of_number(x: Tensor, dim: int, index: Tensor, src: Tensor) -> Tensor:
    one = x.reshape(1).scatter_add(0, index.reshape(-1), src.reshape(-1))
    return one.reshape(())


_COUNTED = frozenset((torch.bool, torch.float32, torch.int32, torch.int64, torch.uint8))
"""What onnxruntime has a kernel of NonZero for."""


@FAMILY.decomposes(
    "aten::nonzero",
    defect="onnxruntime has no NonZero of float64 and small integers",
    method="of what is not 0",
    accuracy="exact",
    applies=lambda x: x.dtype not in _COUNTED,
)
def nonzero(x: Tensor) -> Tensor:
    return torch.nonzero(x != 0)


@FAMILY.decomposes(
    "aten::nonzero_static", method="nonzero, filled up to the size and cut", accuracy="exact"
)
def nonzero_static(x: Tensor, *, size: int, fill_value: int = -1) -> Tensor:
    filling = torch.full((size, x.dim()), fill_value, dtype=torch.int64, device=x.device)
    return torch.cat([torch.nonzero(x), filling])[:size]


@FAMILY.decomposes("aten::masked_select", method="indexing with the mask")
def masked_select(x: Tensor, mask: Tensor) -> Tensor:
    x, mask = broadcast(x, mask)
    result: Tensor = torch.ops.aten.index.Tensor(x, [mask])
    return result


def _lies_in_order(
    x: Tensor, source: Tensor, size: Sequence[int], stride: Sequence[int], offset: int | None = None
) -> bool:
    """Return whether sizes are known, and elements lie in memory as in the tensor."""
    numbers = [*x.shape, *size, *stride, offset or 0]
    return all(isinstance(number, int) for number in numbers) and x.is_contiguous()


@FAMILY.decomposes(
    "aten::as_strided_scatter",
    method="scatter into the flattened tensor, for static sizes",
    applies=_lies_in_order,
)
def as_strided_scatter(
    x: Tensor, source: Tensor, size: Sequence[int], stride: Sequence[int], offset: int | None = None
) -> Tensor:
    place = torch.full([1] * len(size), offset or 0, dtype=torch.int64, device=x.device)
    for axis, (length, step) in enumerate(zip(size, stride, strict=True)):
        steps = torch.arange(length, device=x.device) * step
        place = place + steps.reshape([-1 if at == axis else 1 for at in range(len(size))])
    flat = x.reshape(-1).scatter(0, place.reshape(-1), source.reshape(-1))
    return flat.reshape(x.shape)


def _is_captured(*_: object, **__: object) -> bool:
    """Return whether sizes are symbols: a trace would keep the length of the diagonal."""
    return not torch.jit.is_tracing()  # type: ignore[attr-defined, no-untyped-call]


@FAMILY.decomposes(
    "aten::diagonal",
    defect="the matrix times 0 off the diagonal, summed: NaN or infinity there makes NaN",
    method="indexing of the flattened matrix: the places lie a row and a column apart",
    applies=_is_captured,
)
def diagonal(x: Tensor, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Tensor:
    moved = x.movedim((dim1, dim2), (-2, -1))
    rows, columns = moved.shape[-2:]
    length = torch.sym_max(torch.sym_min(rows + min(offset, 0), columns - max(offset, 0)), 0)
    start = offset if offset >= 0 else -offset * columns
    places = torch.arange(length, device=x.device) * (columns + 1) + start
    return moved.flatten(-2).index_select(-1, places)


@FAMILY.decomposes(
    "aten::diagonal_scatter", method="where on the diagonal, with src laid along the rows"
)
def diagonal_scatter(
    x: Tensor, src: Tensor, offset: int = 0, dim1: int = 0, dim2: int = 1
) -> Tensor:
    moved = x.movedim((dim1, dim2), (-2, -1))
    rows = torch.arange(moved.shape[-2], device=x.device)
    columns = torch.arange(moved.shape[-1], device=x.device)
    position = torch.clamp(rows + min(offset, 0), min=0)
    position = torch.minimum(position, torch.ones_like(position) * (src.shape[-1] - 1))
    along = src.index_select(-1, position).unsqueeze(-1)
    on_diagonal = columns.unsqueeze(0) - rows.unsqueeze(1) == offset
    return torch.where(on_diagonal, along, moved).movedim((-2, -1), (dim1, dim2))


@FAMILY.decomposes(
    "aten::scatter_reduce.two",
    defect="mean is translated without a reduction: the last value wins",
    report="https://github.com/onnx/onnx/issues/5100",
    method="sum over count, for the mean",
    applies=lambda *arguments, **_: arguments[4] == "mean",
)
def scatter_mean(
    x: Tensor, dim: int, index: Tensor, src: Tensor, reduce: str, *, include_self: bool = True
) -> Tensor:
    assert reduce == "mean"
    ones = torch.ones_like(x)
    count = torch.zeros_like(x).scatter_add(dim, index, torch.ones_like(index, dtype=x.dtype))
    start = x if include_self else torch.where(count > 0, torch.zeros_like(x), x)
    total = start.scatter_add(dim, index, src)
    if include_self:
        count = count + ones
    count = torch.where(count > 0, count, ones)
    if x.dtype.is_floating_point:
        return total / count
    return torch.div(total, count, rounding_mode="floor")
