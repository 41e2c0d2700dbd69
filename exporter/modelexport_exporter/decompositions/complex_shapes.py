"""Complex tensors cut, joined, moved and made: done to pairs of real and imaginary parts.

torch.onnx holds a complex tensor as a real one with a last dim of two, and translates few operators
of it. Each function here is an ATen operator, for at least one complex argument or result.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import torch
from torch import Tensor

Function = TypeVar("Function", bound=Callable[..., Any])
Number = complex | float
Size = int | torch.SymInt
Forms = dict[str, Callable[..., Any]]
SHAPES: Forms = {}
"""By the operator's name, with its overload."""
PARTS = {
    torch.complex32: torch.float16,
    torch.complex64: torch.float32,
    torch.complex128: torch.float64,
}


def form_of(*names: str) -> Callable[[Function], Function]:
    def register(function: Function) -> Function:
        SHAPES.update(dict.fromkeys(names, function))
        return function

    return register


def parts(x: Tensor, dtype: torch.dtype | None = None) -> Tensor:
    """Return [..., 2], of a real tensor too, in the precision of `dtype`."""
    pairs = torch.view_as_real(x) if x.is_complex() else torch.stack([x, torch.zeros_like(x)], -1)
    return pairs if dtype is None else pairs.to(PARTS[dtype])


def whole(pairs: Tensor) -> Tensor:
    return torch.view_as_complex(pairs.contiguous())


def common(*tensors: Tensor) -> torch.dtype:
    """Return the complex dtype that the tensors are computed in together."""
    dtype = tensors[0].dtype
    for tensor in tensors[1:]:
        dtype = torch.promote_types(dtype, tensor.dtype)
    return dtype


def constant(value: Number, like: Tensor) -> Tensor:
    """Return the number as a tensor without dims."""
    real = PARTS[like.dtype]
    pair = [torch.full((), number, dtype=real, device=like.device) for number in _pair(value)]
    return whole(torch.stack(pair, -1))


def _pair(value: Number) -> tuple[float, float]:
    number = complex(value)
    return number.real, number.imag


@form_of("aten::unsqueeze")
def unsqueeze(x: Tensor, dim: int) -> Tensor:
    return whole(parts(x).unsqueeze(dim % (x.dim() + 1)))


@form_of("aten::squeeze", "aten::squeeze.dim", "aten::squeeze.dims")
def squeeze(x: Tensor, dim: int | Sequence[int] | None = None) -> Tensor:
    if dim is None:
        dim = range(x.dim())
    dims = [each % x.dim() for each in ([dim] if isinstance(dim, int) else dim) if x.dim()]
    return whole(parts(x).squeeze(dims))


@form_of("aten::select.int")
def select(x: Tensor, dim: int, index: Size) -> Tensor:
    return whole(parts(x).select(dim % x.dim(), index))


@form_of("aten::expand")
def expand(x: Tensor, size: Sequence[Size], *, implicit: bool = False) -> Tensor:
    return whole(parts(x).expand(*size, 2))


@form_of("aten::repeat")
def repeat(x: Tensor, repeats: Sequence[Size]) -> Tensor:
    return whole(parts(x).repeat(*repeats, 1))


@form_of("aten::index.Tensor")
def index(x: Tensor, indices: Sequence[Tensor | None]) -> Tensor:
    result: Tensor = torch.ops.aten.index.Tensor(parts(x), indices)
    return whole(result)


@form_of("aten::index_select")
def index_select(x: Tensor, dim: int, chosen: Tensor) -> Tensor:
    return whole(parts(x).index_select(dim % x.dim(), chosen))


@form_of("aten::gather")
def gather(x: Tensor, dim: int, chosen: Tensor, *, sparse_grad: bool = False) -> Tensor:
    return whole(parts(x).gather(dim % x.dim(), chosen.unsqueeze(-1).expand(*chosen.shape, 2)))


@form_of("aten::index_put")
def index_put(
    x: Tensor, indices: Sequence[Tensor | None], values: Tensor, accumulate: bool = False
) -> Tensor:
    pairs = parts(values, x.dtype)
    result: Tensor = torch.ops.aten.index_put.default(parts(x), indices, pairs, accumulate)
    return whole(result)


@form_of("aten::slice_scatter")
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


@form_of("aten::select_scatter")
def select_scatter(x: Tensor, src: Tensor, dim: int, index: Size) -> Tensor:
    pairs = parts(src, x.dtype)
    return whole(torch.select_scatter(parts(x), pairs, dim % x.dim(), index))


@form_of("aten::split.Tensor", "aten::split_with_sizes")
def split(x: Tensor, size: Any, dim: int = 0) -> list[Tensor]:  # noqa: ANN401
    return [whole(piece) for piece in torch.split(parts(x), size, dim % x.dim())]


@form_of("aten::unbind.int")
def unbind(x: Tensor, dim: int = 0) -> list[Tensor]:
    return [whole(piece) for piece in parts(x).unbind(dim % x.dim())]


@form_of("aten::constant_pad_nd")
def constant_pad_nd(x: Tensor, pad: Sequence[Size], value: Number = 0) -> Tensor:
    each = [
        torch.constant_pad_nd(part, pad, number)
        for part, number in zip(parts(x).unbind(-1), _pair(value), strict=True)
    ]
    return whole(torch.stack(each, -1))


@form_of("aten::where.self")
def where(condition: Tensor, x: Tensor, y: Tensor) -> Tensor:
    dtype = common(x, y)
    x, y, condition = torch.broadcast_tensors(  # type: ignore[no-untyped-call]
        parts(x, dtype), parts(y, dtype), condition[..., None]
    )
    return whole(torch.where(condition, x, y))


@form_of("aten::masked_fill.Scalar", "aten::masked_fill.Tensor")
def masked_fill(x: Tensor, mask: Tensor, value: Number | Tensor) -> Tensor:
    filled = value.to(x.dtype) if isinstance(value, Tensor) else constant(value, x)
    return where(mask, filled, x)


@form_of("aten::tril")
def tril(x: Tensor, diagonal: int = 0) -> Tensor:
    return whole(torch.stack([torch.tril(part, diagonal) for part in parts(x).unbind(-1)], -1))


@form_of("aten::triu")
def triu(x: Tensor, diagonal: int = 0) -> Tensor:
    return whole(torch.stack([torch.triu(part, diagonal) for part in parts(x).unbind(-1)], -1))


@form_of("aten::unfold")
def unfold(x: Tensor, dim: int, size: int, step: int) -> Tensor:
    return whole(parts(x).unfold(dim % x.dim(), size, step).movedim(-2, -1))


@form_of("aten::copy")
def copy(x: Tensor, src: Tensor, non_blocking: bool = False) -> Tensor:
    if not x.is_complex():
        return torch.ops.aten.copy.default(x, parts(src)[..., 0])  # type: ignore[no-any-return]
    return whole(parts(src, x.dtype).expand(*x.shape, 2))


@form_of("aten::_to_copy")
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
        return whole(pairs.to(PARTS[wanted], copy=True))
    return pairs[..., 0].to(wanted, copy=True)


@form_of("aten::full_like")
def full_like(x: Tensor, value: Number, *, dtype: torch.dtype | None = None, **_: Any) -> Tensor:  # noqa: ANN401
    wanted = x.dtype if dtype is None else dtype
    like = parts(x)[..., 0]
    if not wanted.is_complex:
        return torch.full_like(like, complex(value).real, dtype=wanted)
    each = [torch.full_like(like, number, dtype=PARTS[wanted]) for number in _pair(value)]
    return whole(torch.stack(each, -1))


@form_of("aten::zeros_like", "aten::empty_like")
def zeros_like(x: Tensor, **options: Any) -> Tensor:  # noqa: ANN401
    return full_like(x, 0, **options)


@form_of("aten::ones_like")
def ones_like(x: Tensor, **options: Any) -> Tensor:  # noqa: ANN401
    return full_like(x, 1, **options)


@form_of("aten::full")
def full(
    size: Sequence[Size], value: Number, *, dtype: torch.dtype | None = None, **_: object
) -> Tensor:
    wanted = dtype or torch.complex64
    each = [torch.full(size, number, dtype=PARTS[wanted]) for number in _pair(value)]
    return whole(torch.stack(each, -1))


@form_of("aten::zeros", "aten::empty.memory_format")
def zeros(size: Sequence[Size], **options: Any) -> Tensor:  # noqa: ANN401
    return full(size, 0, **options)


@form_of("aten::ones")
def ones(size: Sequence[Size], **options: Any) -> Tensor:  # noqa: ANN401
    return full(size, 1, **options)


@form_of("aten::new_zeros", "aten::new_empty")
def new_zeros(
    x: Tensor,
    size: Sequence[Size],
    *,
    dtype: torch.dtype | None = None,
    **_: Any,  # noqa: ANN401
) -> Tensor:
    wanted = x.dtype if dtype is None else dtype
    return full(size, 0, dtype=wanted) if wanted.is_complex else torch.zeros(size, dtype=wanted)


@form_of("aten::new_ones")
def new_ones(
    x: Tensor,
    size: Sequence[Size],
    *,
    dtype: torch.dtype | None = None,
    **_: Any,  # noqa: ANN401
) -> Tensor:
    wanted = x.dtype if dtype is None else dtype
    return full(size, 1, dtype=wanted) if wanted.is_complex else torch.ones(size, dtype=wanted)
