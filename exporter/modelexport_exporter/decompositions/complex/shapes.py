"""Slicing, joining, moving and creating complex tensors, on pairs of real and imaginary parts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from modelexport_exporter.decompositions.complex.pairs import (
    Forms,
    Number,
    constant,
    halves,
    join,
    join_parts_of,
    parts,
    parts_of,
    whole,
)
from modelexport_exporter.decompositions.sizes import Size

FORMS = Forms()


@FORMS.form_of("aten::unsqueeze")
def unsqueeze(x: Tensor, dim: int) -> Tensor:
    return whole(parts(x).unsqueeze(dim % (x.dim() + 1)))


@FORMS.form_of("aten::squeeze", "aten::squeeze.dim", "aten::squeeze.dims")
def squeeze(x: Tensor, dim: int | Sequence[int] | None = None) -> Tensor:
    if dim is None:
        dim = range(x.dim())
    dims = [each % x.dim() for each in ([dim] if isinstance(dim, int) else dim) if x.dim()]
    return whole(parts(x).squeeze(dims))


@FORMS.form_of("aten::select.int")
def select(x: Tensor, dim: int, index: Size) -> Tensor:
    return whole(parts(x).select(dim % x.dim(), index))


@FORMS.form_of("aten::expand")
def expand(x: Tensor, size: Sequence[Size], *, implicit: bool = False) -> Tensor:
    return whole(parts(x).expand(*size, 2))


@FORMS.form_of("aten::repeat")
def repeat(x: Tensor, repeats: Sequence[Size]) -> Tensor:
    return whole(parts(x).repeat(*repeats, 1))


@FORMS.form_of("aten::roll")
def roll(x: Tensor, shifts: Size | Sequence[Size], dims: int | Sequence[int] = ()) -> Tensor:
    dims = [dims] if isinstance(dims, int) else list(dims)
    if not dims:
        return whole(parts(x).reshape(-1, 2).roll(shifts, 0).reshape(*x.shape, 2))
    return whole(parts(x).roll(shifts, [dim % x.dim() for dim in dims]))


@FORMS.form_of("aten::flip")
def flip(x: Tensor, dims: Sequence[int]) -> Tensor:
    return whole(parts(x).flip([dim % x.dim() for dim in dims]))


@FORMS.form_of("aten::index.Tensor")
def index(x: Tensor, indices: Sequence[Tensor | None]) -> Tensor:
    result: Tensor = torch.ops.aten.index.Tensor(parts(x), indices)
    return whole(result)


@FORMS.form_of("aten::index_select")
def index_select(x: Tensor, dim: int, chosen: Tensor) -> Tensor:
    return whole(parts(x).index_select(dim % x.dim(), chosen))


@FORMS.form_of("aten::gather")
def gather(x: Tensor, dim: int, chosen: Tensor, *, sparse_grad: bool = False) -> Tensor:
    return whole(parts(x).gather(dim % x.dim(), _of_both_parts(chosen)))


def _of_both_parts(places: Tensor) -> Tensor:
    """Return the places of pairs, from those of complex elements."""
    return places.unsqueeze(-1).expand(*places.shape, 2)


@FORMS.form_of("aten::masked_select")
def masked_select(x: Tensor, mask: Tensor) -> Tensor:
    shape = torch.broadcast_shapes(x.shape, mask.shape)  # type: ignore[no-untyped-call]
    return whole(parts(x).expand(*shape, 2)[mask.expand(shape)])


@FORMS.form_of("aten::scatter.src", applies=lambda x, *_, **__: x.dim() > 0)
def scatter(x: Tensor, dim: int, places: Tensor, src: Tensor) -> Tensor:
    return whole(parts(x).scatter(dim % x.dim(), _of_both_parts(places), parts(src, x.dtype)))


@FORMS.form_of("aten::scatter_add", applies=lambda x, *_, **__: x.dim() > 0)
def scatter_add(x: Tensor, dim: int, places: Tensor, src: Tensor) -> Tensor:
    return whole(parts(x).scatter_add(dim % x.dim(), _of_both_parts(places), parts(src, x.dtype)))


@FORMS.form_of("aten::index_put")
def index_put(
    x: Tensor, indices: Sequence[Tensor | None], values: Tensor, accumulate: bool = False
) -> Tensor:
    pairs = parts(values, x.dtype)
    result: Tensor = torch.ops.aten.index_put.default(parts(x), indices, pairs, accumulate)
    return whole(result)


@FORMS.form_of("aten::slice_scatter")
def slice_scatter(
    x: Tensor,
    src: Tensor,
    dim: int = 0,
    start: Size | None = None,
    end: Size | None = None,
    step: Size = 1,
) -> Tensor:
    placed: Tensor = torch.ops.aten.slice_scatter.default(
        parts(x), parts(src, x.dtype), dim % x.dim(), start, end, step
    )
    return whole(placed)


@FORMS.form_of("aten::select_scatter")
def select_scatter(x: Tensor, src: Tensor, dim: int, index: Size) -> Tensor:
    pairs = parts(src, x.dtype)
    return whole(torch.select_scatter(parts(x), pairs, dim % x.dim(), index))


@FORMS.form_of("aten::split.Tensor", "aten::split_with_sizes")
def split(x: Tensor, size: Any, dim: int = 0) -> list[Tensor]:  # noqa: ANN401
    return [whole(piece) for piece in torch.split(parts(x), size, dim % x.dim())]


@FORMS.form_of("aten::unbind.int")
def unbind(x: Tensor, dim: int = 0) -> list[Tensor]:
    return [whole(piece) for piece in parts(x).unbind(dim % x.dim())]


@FORMS.form_of("aten::constant_pad_nd")
def constant_pad_nd(x: Tensor, pad: Sequence[Size], value: Number = 0) -> Tensor:
    padded = (
        torch.constant_pad_nd(part, pad, number)
        for part, number in zip(halves(x), parts_of(value), strict=True)
    )
    return join(*padded)


@FORMS.form_of("aten::where.self")
def where(condition: Tensor, x: Tensor, y: Tensor) -> Tensor:
    dtype = torch.promote_types(x.dtype, y.dtype)
    x, y, condition = torch.broadcast_tensors(  # type: ignore[no-untyped-call]
        parts(x, dtype), parts(y, dtype), condition[..., None]
    )
    return whole(torch.where(condition, x, y))


@FORMS.form_of("aten::masked_fill.Scalar", "aten::masked_fill.Tensor")
def masked_fill(x: Tensor, mask: Tensor, value: Number | Tensor) -> Tensor:
    filled = value.to(x.dtype) if isinstance(value, Tensor) else constant(value, x)
    return where(mask, filled, x)


@FORMS.form_of("aten::tril")
def tril(x: Tensor, diagonal: int = 0) -> Tensor:
    real, imaginary = halves(x)
    return join(torch.tril(real, diagonal), torch.tril(imaginary, diagonal))


@FORMS.form_of("aten::triu")
def triu(x: Tensor, diagonal: int = 0) -> Tensor:
    real, imaginary = halves(x)
    return join(torch.triu(real, diagonal), torch.triu(imaginary, diagonal))


@FORMS.form_of("aten::unfold")
def unfold(x: Tensor, dim: int, size: int, step: int) -> Tensor:
    return whole(parts(x).unfold(dim % x.dim(), size, step).movedim(-2, -1))


@FORMS.form_of("aten::copy")
def copy(x: Tensor, src: Tensor, non_blocking: bool = False) -> Tensor:
    if not x.is_complex():
        return torch.ops.aten.copy.default(x, parts(src)[..., 0])  # type: ignore[no-any-return]
    return whole(parts(src, x.dtype).expand(*x.shape, 2))


@FORMS.form_of("aten::_to_copy")
def to_copy(
    x: Tensor,
    *,
    dtype: torch.dtype | None = None,
    layout: object = None,
    device: Any = None,  # noqa: ANN401
    pin_memory: bool | None = None,
    non_blocking: bool = False,
    memory_format: object = None,
) -> Tensor:
    wanted = x.dtype if dtype is None else dtype
    pairs = parts(x)
    if wanted.is_complex:
        return whole(pairs.to(wanted.to_real(), copy=True))
    return pairs[..., 0].to(wanted, copy=True)


@FORMS.form_of("aten::full_like")
def full_like(x: Tensor, value: Number, *, dtype: torch.dtype | None = None, **_: Any) -> Tensor:  # noqa: ANN401
    wanted = x.dtype if dtype is None else dtype
    like = parts(x)[..., 0]
    if not wanted.is_complex:
        return torch.full_like(like, parts_of(value)[0], dtype=wanted)
    real = wanted.to_real()
    return join_parts_of(value, lambda number: torch.full_like(like, number, dtype=real))


@FORMS.form_of("aten::zeros_like", "aten::empty_like")
def zeros_like(x: Tensor, **options: Any) -> Tensor:  # noqa: ANN401
    return full_like(x, 0, **options)


@FORMS.form_of("aten::ones_like")
def ones_like(x: Tensor, **options: Any) -> Tensor:  # noqa: ANN401
    return full_like(x, 1, **options)


@FORMS.form_of("aten::full")
def full(
    size: Sequence[Size], value: Number, *, dtype: torch.dtype | None = None, **_: object
) -> Tensor:
    real = (dtype or torch.complex64).to_real()
    return join_parts_of(value, lambda number: torch.full(size, number, dtype=real))


@FORMS.form_of("aten::zeros", "aten::empty.memory_format")
def zeros(size: Sequence[Size], **options: Any) -> Tensor:  # noqa: ANN401
    return full(size, 0, **options)


@FORMS.form_of("aten::ones")
def ones(size: Sequence[Size], **options: Any) -> Tensor:  # noqa: ANN401
    return full(size, 1, **options)


@FORMS.form_of("aten::new_zeros", "aten::new_empty")
def new_zeros(x: Tensor, size: Sequence[Size], **options: Any) -> Tensor:  # noqa: ANN401
    return _new_full(x, size, 0, **options)


@FORMS.form_of("aten::new_ones")
def new_ones(x: Tensor, size: Sequence[Size], **options: Any) -> Tensor:  # noqa: ANN401
    return _new_full(x, size, 1, **options)


def _new_full(
    x: Tensor,
    size: Sequence[Size],
    value: int,
    *,
    dtype: torch.dtype | None = None,
    **_: object,
) -> Tensor:
    wanted = x.dtype if dtype is None else dtype
    if wanted.is_complex:
        return full(size, value, dtype=wanted)
    return torch.full(size, value, dtype=wanted)
