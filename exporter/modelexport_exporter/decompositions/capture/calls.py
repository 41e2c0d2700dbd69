"""Calls that torch.export refuses, or fixes to the example's sizes, in a form that it captures.

Each function has the signature of the one that it replaces, and returns NotImplemented where
torch.export captures that one correctly.
"""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any

import torch
import torch.nn.functional as F  # noqa: N812
from torch import SymFloat, SymInt, Tensor
from torch.fx.experimental.symbolic_shapes import statically_known_true

from modelexport_exporter.decompositions.capture.registry import (
    Replacements,
    Result,
    is_open,
)
from modelexport_exporter.decompositions.ops.linalg import distance
from modelexport_exporter.decompositions.sizes import LONGEST, hint_of

CALLS = Replacements()


def _options(dtype: torch.dtype | None, device: Any) -> dict[str, Any]:  # noqa: ANN401
    return {"dtype": dtype or torch.get_default_dtype(), "device": device}


@CALLS.replaces("linspace", torch.linspace)
def linspace(
    start: float,
    end: float,
    steps: int | SymInt,
    *,
    dtype: torch.dtype | None = None,
    device: Any = None,  # noqa: ANN401
    **_: object,
) -> Result:
    if not is_open(steps):
        return NotImplemented
    position = torch.arange(steps, **_options(dtype, device))
    last = torch.clamp(torch.ones_like(position) * (steps - 1), min=1.0)  # type: ignore[arg-type]
    # A number over a tensor is its reciprocal times the number, with an error of its own.
    step = torch.ones_like(last) * (end - start) / last
    # From both ends, as eager does: both ends are exact.
    low, high = start + step * position, end - step * (last - position)
    return torch.where(position < steps // 2, low, torch.where(position == 0, low, high))


@CALLS.replaces("arange", torch.arange)
def arange(
    start: float = 0,
    end: float | None = None,
    step: float = 1,
    *,
    dtype: torch.dtype | None = None,
    device: Any = None,  # noqa: ANN401
    **_: object,
) -> Result:
    """Count the steps in double, as eager does: Range of ONNX counts in the dtype of the result."""
    if not any(isinstance(number, SymFloat) for number in (start, end, step)):
        return NotImplemented
    first, last = (0, start) if end is None else (start, end)
    places = torch.arange(math.ceil((last - first) / step), dtype=torch.float64, device=device)
    return (first + step * places).to(dtype or torch.get_default_dtype())


@CALLS.replaces("logspace", torch.logspace)
def logspace(
    start: float,
    end: float,
    steps: int | SymInt,
    base: float = 10.0,
    **options: Any,  # noqa: ANN401
) -> Result:
    exponents = linspace(start, end, steps, **options)
    return NotImplemented if exponents is NotImplemented else torch.pow(base, exponents)


@CALLS.replaces("chunk", torch.chunk, Tensor.chunk)
def chunk(x: Tensor, chunks: int, dim: int = 0) -> Result:
    size = x.shape[dim]
    if not is_open(size):
        return NotImplemented
    if statically_known_true(size % chunks == 0):
        each = size // chunks
        return tuple(x.narrow(dim, k * each, each) for k in range(chunks))
    each = (size + chunks - 1) // chunks
    # 4 in 3 chunks are 2 of 2: how many there are is a condition on the size.
    count = next((k for k in range(1, chunks) if k * each >= size), chunks)
    return _cut_at(x, dim, [torch.sym_min(k * each, size) for k in range(count + 1)])


_MOST_PARTS = 64


@CALLS.replaces("split", torch.split, Tensor.split)
def split(
    x: Tensor, split_size_or_sections: object = None, dim: int = 0, *, split_size: object = None
) -> Result:
    """Cut a size of which the parts' size is a divisor, as `cat([a, b]).split(a.shape[0])` does.

    torch rounds the quotient up, and keeps the remainder of the example's sizes.
    """
    each: Any = split_size_or_sections if split_size is None else split_size
    if not is_open(each):
        return NotImplemented
    size: Any = x.shape[dim]
    count, rest = divmod(hint_of(size), hint_of(each) or LONGEST)
    # Sizes of two inputs are equal from here on, where one dim is declared for both.
    if rest or not 0 < count < _MOST_PARTS or size != count * each:
        return NotImplemented
    return tuple(x.narrow(dim, k * each, each) for k in range(count))


@CALLS.replaces("tensor_split", torch.tensor_split, Tensor.tensor_split)
def tensor_split(
    x: Tensor,
    indices_or_sections: object = None,
    dim: int = 0,
    *,
    sections: int | None = None,
    **_: object,
) -> Result:
    count = sections if indices_or_sections is None else indices_or_sections
    size = x.shape[dim]
    if not is_open(size) or not isinstance(count, int):
        return NotImplemented
    longer, short = size % count, size // count
    return _cut_at(x, dim, [k * short + torch.sym_min(k, longer) for k in range(count + 1)])


def _cut_at(x: Tensor, dim: int, places: list[Any]) -> Result:
    return tuple(x.narrow(dim, begin, end - begin) for begin, end in pairwise(places))


@CALLS.replaces("take_along_dim", torch.take_along_dim, Tensor.take_along_dim)
def take_along_dim(x: Tensor, indices: Tensor, dim: int | None = None) -> Result:
    if dim is None:
        return x.reshape(-1).gather(0, indices.reshape(-1))
    if x.dim() != indices.dim():
        return NotImplemented
    sizes = list(zip(x.shape, indices.shape, strict=True))
    own = dim % x.dim()
    known = [str(a) == str(b) or 1 in (a, b) for axis, (a, b) in enumerate(sizes) if axis != own]
    if not all(known):
        return NotImplemented
    wide = [b if isinstance(a, int) and a == 1 else a for a, b in sizes]
    source = x.expand(*wide[:own], x.shape[own], *wide[own + 1 :])
    return source.gather(dim, indices.expand(*wide[:own], indices.shape[own], *wide[own + 1 :]))


@CALLS.replaces("cdist", torch.cdist)
def cdist(x1: Tensor, x2: Tensor, p: float = 2.0, compute_mode: object = None) -> Result:
    return distance(x1.unsqueeze(-2) - x2.unsqueeze(-3), p)


@CALLS.replaces("linalg_matrix_norm", torch.linalg.matrix_norm)
def matrix_norm(
    a: Tensor,
    ord: float | str = "fro",  # noqa: A002
    dim: tuple[int, int] = (-2, -1),
    keepdim: bool = False,
    *,
    dtype: torch.dtype | None = None,
) -> Result:
    if ord not in (1, -1, math.inf, -math.inf, "fro") or dim != (-2, -1):
        return NotImplemented
    size = (a if dtype is None else a.to(dtype)).abs()
    if ord == "fro":
        return torch.sqrt((size * size).sum((-2, -1), keepdim=keepdim))
    assert not isinstance(ord, str)
    sums = size.sum(-2 if abs(ord) == 1 else -1, keepdim=True)
    return torch.amax(sums, (-2, -1), keepdim) if ord > 0 else torch.amin(sums, (-2, -1), keepdim)


@CALLS.replaces("fill_diagonal_", Tensor.fill_diagonal_)
def fill_diagonal_(x: Tensor, fill_value: float, wrap: bool = False) -> Result:
    if x.dim() != 2 or wrap:
        return NotImplemented
    diagonal = torch.eye(x.shape[0], x.shape[1], dtype=torch.bool, device=x.device)
    return x.masked_fill_(diagonal, fill_value)


@CALLS.replaces("gaussian_nll_loss", F.gaussian_nll_loss)
def gaussian_nll_loss(
    input: Tensor,  # noqa: A002
    target: Tensor,
    var: Tensor | float,
    full: bool = False,
    eps: float = 1e-6,
    reduction: str = "mean",
) -> Result:
    if not isinstance(var, Tensor):
        var = torch.full_like(input, var)
    if var.dim() == input.dim() - 1:
        var = var.unsqueeze(-1)
    variance = var.clamp(min=eps)
    loss = 0.5 * (torch.log(variance) + (input - target) ** 2 / variance)
    if full:
        loss = loss + 0.5 * math.log(2 * math.pi)
    if reduction == "mean":
        return loss.mean()
    return loss.sum() if reduction == "sum" else loss
