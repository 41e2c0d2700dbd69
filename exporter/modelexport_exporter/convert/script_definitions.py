"""Definitions of operators that torch's exporter of scripts lacks or rounds, by those that it has.

torch.jit.script compiles them. The formulas are those of PyTorch's documentation; arguments are
those of the operator's schema, in its order.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, List, Optional  # noqa: UP035 - torch.jit.script reads them

import torch
from torch import Tensor

from modelexport_exporter.convert.script_matrices import OF_MATRICES
from modelexport_exporter.convert.script_scans import ALONG_A_DIM


def _diag(x: Tensor, diagonal: int) -> Tensor:
    if x.dim() > 1:
        return x.diagonal(diagonal, 0, 1)
    offset = abs(diagonal)
    padded = torch.cat([x, torch.zeros([offset], dtype=x.dtype)])
    places = torch.arange(x.size(0) + offset)
    is_on = places.unsqueeze(0) - places.unsqueeze(1) == diagonal
    values = padded.unsqueeze(1) if diagonal >= 0 else padded.unsqueeze(0)
    return torch.where(is_on, values, torch.zeros_like(values))


def _trace(x: Tensor) -> Tensor:
    return x.diagonal(0, 0, 1).sum()


def _hypot(x: Tensor, y: Tensor) -> Tensor:
    large = torch.maximum(x.abs(), y.abs())
    small = torch.minimum(x.abs(), y.abs())
    plain = (large == 0) | torch.isinf(large)
    share = small / torch.where(plain, torch.ones_like(large), large)
    found = torch.where(plain, large, large * torch.sqrt(1 + share * share))
    infinite = torch.isinf(x) | torch.isinf(y)
    return torch.where(infinite, torch.full_like(found, math.inf), found)


def _expm1(x: Tensor) -> Tensor:
    # exp(x) - 1 = 2 sinh(x / 2) exp(x / 2), without cancellation near 0.
    near = 2 * torch.sinh(x / 2) * torch.exp(x / 2)
    return torch.where(x.abs() < 1, near, torch.exp(x) - 1)


def _log1p(x: Tensor) -> Tensor:
    # log(u) · x / (u - 1), u being 1 + x as rounded: log(1 + x) has no correct digits near 0.
    real = x * 1.0
    rounded = 1 + real
    log = torch.log(rounded)
    unchanged = rounded == 1
    step = torch.where(unchanged, torch.ones_like(real), rounded - 1)
    return torch.where(unchanged, real, torch.where(real > 1, log, log * (real / step)))


def _log_sigmoid(x: Tensor) -> Tensor:
    # The sigmoid rounds to 0 where its logarithm is finite.
    return torch.minimum(x, torch.zeros_like(x)) - _log1p(torch.exp(-x.abs()))


def _frac(x: Tensor) -> Tensor:
    return x - torch.trunc(x)


def _sgn(x: Tensor) -> Tensor:
    return torch.where(torch.isnan(x), torch.zeros_like(x), torch.sign(x))


def _xlogy(x: Tensor, y: Tensor) -> Tensor:
    zero = (x == 0) & ~torch.isnan(y)
    return torch.where(zero, torch.zeros_like(x * y), x * torch.log(y))


def _sinc(x: Tensor) -> Tensor:
    angle = x * math.pi
    safe = torch.where(x == 0, torch.ones_like(angle), angle)
    return torch.where(x == 0, torch.ones_like(angle), torch.sin(safe) / safe)


def _nansum(
    x: Tensor,
    dim: Optional[List[int]],  # noqa: UP006, UP045
    keepdim: bool,
    dtype: Optional[torch.dtype],  # noqa: UP045
) -> Tensor:
    zeroed = torch.where(torch.isnan(x), torch.zeros_like(x), x)
    if dim is None:
        return zeroed.sum(dtype=dtype)
    return zeroed.sum(dim, keepdim, dtype=dtype)


def _nanmean(
    x: Tensor,
    dim: Optional[List[int]],  # noqa: UP006, UP045
    keepdim: bool,
    dtype: Optional[torch.dtype],  # noqa: UP045
) -> Tensor:
    known = ~torch.isnan(x)
    zeroed = torch.where(known, x, torch.zeros_like(x))
    if dim is None:
        return zeroed.sum(dtype=dtype) / known.to(x.dtype).sum()
    return zeroed.sum(dim, keepdim, dtype=dtype) / known.to(x.dtype).sum(dim, keepdim)


def _isclose(x: Tensor, y: Tensor, rtol: float, atol: float, equal_nan: bool) -> Tensor:
    near = (x - y).abs() <= atol + rtol * y.abs()
    close = (x == y) | (near & ~torch.isinf(x) & ~torch.isinf(y))
    return close | (torch.isnan(x) & torch.isnan(y)) if equal_nan else close


def _last_two_exchanged(x: Tensor) -> Tensor:
    return x.transpose(-2, -1)


def _argwhere(x: Tensor) -> Tensor:
    return torch.nonzero(x)


def _addmv(x: Tensor, matrix: Tensor, vector: Tensor, beta: float, alpha: float) -> Tensor:
    return beta * x + alpha * torch.mv(matrix, vector)


def _signbit(x: Tensor) -> Tensor:
    # 1 / -0.0 is -infinity.
    return (x < 0) | ((x == 0) & (1 / x < 0))


def _copysign(x: Tensor, y: Tensor) -> Tensor:
    return torch.where(_signbit(y), -x.abs(), x.abs())


def _heaviside(x: Tensor, at_zero: Tensor) -> Tensor:
    side = torch.where(x > 0, torch.ones_like(x), torch.zeros_like(x))
    side = torch.where(x == 0, at_zero.to(x.dtype), side)
    return torch.where(torch.isnan(x), torch.zeros_like(x), side)


def _logaddexp(x: Tensor, y: Tensor) -> Tensor:
    large, small = torch.maximum(x, y), torch.minimum(x, y)
    equal = torch.isinf(large) & (large == small)
    apart = torch.where(equal, torch.zeros_like(large), small - large)
    return torch.where(equal, large, large + _log1p(torch.exp(apart)))


def _degrees_to_radians(x: Tensor) -> Tensor:
    return x * (math.pi / 180)


def _radians_to_degrees(x: Tensor) -> Tensor:
    return x * (180 / math.pi)


def _count_nonzero(x: Tensor, dim: Optional[int]) -> Tensor:  # noqa: UP045
    found = (x != 0).to(torch.int64)
    return found.sum() if dim is None else found.sum([dim])


def _count_nonzero_of_dims(x: Tensor, dim: List[int]) -> Tensor:  # noqa: UP006
    return (x != 0).to(torch.int64).sum(dim)


def _bilinear(x: Tensor, y: Tensor, weight: Tensor, bias: Optional[Tensor]) -> Tensor:  # noqa: UP045
    rows = torch.matmul(x.unsqueeze(-2).unsqueeze(-2), weight).squeeze(-2)
    found = (rows * y.unsqueeze(-2)).sum(-1)
    return found if bias is None else found + bias


def _bincount(x: Tensor, weights: Optional[Tensor], minlength: int) -> Tensor:  # noqa: UP045
    places = x.to(torch.int64)
    size = int(torch.cat([places + 1, torch.full([1], minlength, dtype=torch.int64)]).max())
    added = torch.ones_like(places) if weights is None else weights
    return torch.zeros([size], dtype=added.dtype).scatter_add(0, places, added)


def _isposinf(x: Tensor) -> Tensor:
    return torch.isinf(x) & (x > 0)


def _isneginf(x: Tensor) -> Tensor:
    return torch.isinf(x) & (x < 0)


def _fmax(x: Tensor, y: Tensor) -> Tensor:
    found = torch.maximum(x, y)
    return torch.where(torch.isnan(x), y, torch.where(torch.isnan(y), x, found))


def _fmin(x: Tensor, y: Tensor) -> Tensor:
    found = torch.minimum(x, y)
    return torch.where(torch.isnan(x), y, torch.where(torch.isnan(y), x, found))


def _flip_columns(x: Tensor) -> Tensor:
    return torch.flip(x, [1])


def _flip_rows(x: Tensor) -> Tensor:
    return torch.flip(x, [0])


def _ravel(x: Tensor) -> Tensor:
    return x.reshape([-1])


def _same(x: Tensor) -> Tensor:
    return x


def _inner(x: Tensor, y: Tensor) -> Tensor:
    return torch.matmul(x, y.transpose(-2, -1)) if y.dim() > 1 else torch.matmul(x, y)


def _distance(x: Tensor, y: Tensor, p: float) -> Tensor:
    norm: Tensor = torch.norm(x - y, p)
    return norm


def _addcdiv(x: Tensor, one: Tensor, other: Tensor, value: float) -> Tensor:
    return x + value * (one / other)


def _l1_loss(x: Tensor, y: Tensor, reduction: int) -> Tensor:
    return _reduced((x - y).abs(), reduction)


def _huber_loss(x: Tensor, y: Tensor, reduction: int, delta: float) -> Tensor:
    off = (x - y).abs()
    loss = torch.where(off <= delta, 0.5 * off * off, delta * (off - 0.5 * delta))
    return _reduced(loss, reduction)


def _smooth_l1_loss(x: Tensor, y: Tensor, reduction: int, beta: float) -> Tensor:
    off = (x - y).abs()
    if beta == 0.0:
        return _reduced(off, reduction)
    return _reduced(torch.where(off < beta, 0.5 * off * off / beta, off - 0.5 * beta), reduction)


def _reduced(loss: Tensor, reduction: int) -> Tensor:
    if reduction == 1:
        return loss.mean()
    return loss.sum() if reduction == 2 else loss  # noqa: PLR2004


def _log2(x: Tensor) -> Tensor:
    # Of a power of 2 it is whole: a floor of 2.9999998 would be another number.
    real = x * 1.0
    found = torch.log(real) * (1 / math.log(2))
    whole = torch.round(found)
    return torch.where(torch.pow(2.0, whole) == real, whole, found)


DEFINITIONS: dict[str, Callable[..., Any]] = {
    **ALONG_A_DIM,
    **OF_MATRICES,
    "addcdiv": _addcdiv,
    "addmv": _addmv,
    "argwhere": _argwhere,
    "copysign.Tensor": _copysign,
    "bilinear": _bilinear,
    "bincount": _bincount,
    "count_nonzero": _count_nonzero,
    "count_nonzero.dim_IntList": _count_nonzero_of_dims,
    "cpu": _same,
    "deg2rad": _degrees_to_radians,
    "diag": _diag,
    "dist": _distance,
    "expm1": _expm1,
    "fliplr": _flip_columns,
    "flipud": _flip_rows,
    "fmax": _fmax,
    "fmin": _fmin,
    "frac": _frac,
    "heaviside": _heaviside,
    "huber_loss": _huber_loss,
    "hypot": _hypot,
    "inner": _inner,
    "isclose": _isclose,
    "isneginf": _isneginf,
    "isposinf": _isposinf,
    "l1_loss": _l1_loss,
    "log1p": _log1p,
    "log2": _log2,
    "log_sigmoid": _log_sigmoid,
    "logaddexp": _logaddexp,
    "mT": _last_two_exchanged,
    "nanmean": _nanmean,
    "nansum": _nansum,
    "positive": _same,
    "rad2deg": _radians_to_degrees,
    "ravel": _ravel,
    "sgn": _sgn,
    "signbit": _signbit,
    "sinc": _sinc,
    "smooth_l1_loss": _smooth_l1_loss,
    "trace": _trace,
    "xlogy.Tensor": _xlogy,
}
"""Definitions by the names of the operators' schemas."""

INEXACT = frozenset({"chunk", "log1p", "log2", "log_sigmoid"})
"""Those whose symbolic functions in torch lose digits, or return other parts."""
