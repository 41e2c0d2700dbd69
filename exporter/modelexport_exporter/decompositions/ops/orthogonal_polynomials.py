"""Orthogonal polynomials, by their three-term recurrences."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from modelexport_exporter.decompositions.ops.arithmetic import (
    broadcast,
    in_single_precision,
    undefined,
)
from modelexport_exporter.decompositions.registry import Family

FAMILY = Family("Orthogonal polynomials", __doc__)

_METHOD = "three-term recurrence, unrolled"
_MOST_DEGREES = 64
"""Where the degrees are a tensor: each step is 3 to 8 nodes of the graph."""
_BY_TENSOR = f"as for one degree, up to {_MOST_DEGREES}; NaN above"
_ACCURACY = "1e-6 (float32)"
First = Callable[[Tensor], Tensor]
Next = Callable[[int, Tensor, Tensor, Tensor], Tensor]


def _recurrence(x: Tensor, n: int, first: Tensor, following: Next) -> Tensor:
    """Return the n-th polynomial: 1, first, following(k, x, p_k, p_k-1), ..."""
    if n < 0:
        return torch.zeros_like(x)
    before, current = torch.ones_like(x), first
    if n == 0:
        return before
    for k in range(1, n):
        before, current = current, following(k, x, current, before)
    return current


def _recurrences(x: Tensor, n: Tensor, first: Tensor, following: Next) -> Tensor:
    """Return the polynomial of each element's own degree, rounded towards zero."""
    degree = n.to(torch.int64)
    before, current = torch.ones_like(x), first
    result = torch.where(degree < 0, torch.zeros_like(x), undefined(x))
    result = torch.where(degree == 0, before, torch.where(degree == 1, current, result))
    for k in range(1, _MOST_DEGREES):
        before, current = current, following(k, x, current, before)
        result = torch.where(degree == k + 1, current, result)
    return result


def _register(name: str, first: First, following: Next) -> None:
    operator = f"aten::special_{name}"

    @FAMILY.decomposes(f"{operator}.n_scalar", method=_METHOD, accuracy=_ACCURACY)
    def polynomial(x: Tensor, n: float) -> Tensor:
        @in_single_precision
        def value(x: Tensor) -> Tensor:
            return _recurrence(x, int(n), first(x), following)

        return value(x)

    @FAMILY.decomposes(operator, method=_BY_TENSOR, accuracy=_ACCURACY)
    def of_degrees(x: Tensor, n: Tensor) -> Tensor:
        dtype = torch.promote_types(x.dtype, n.dtype)
        x, n = broadcast(x.to(dtype), n)

        @in_single_precision
        def value(x: Tensor) -> Tensor:
            return _recurrences(x, n, first(x), following)

        return value(x)

    @FAMILY.decomposes(f"{operator}.x_scalar", method=_BY_TENSOR, accuracy=_ACCURACY)
    def of_number(x: float, n: Tensor) -> Tensor:
        dtype = n.dtype if n.dtype.is_floating_point else torch.float32
        return of_degrees(torch.full_like(n, x, dtype=dtype), n)


def _chebyshev(_: int, x: Tensor, current: Tensor, before: Tensor) -> Tensor:
    return 2 * x * current - before


def _shifted_chebyshev(_: int, x: Tensor, current: Tensor, before: Tensor) -> Tensor:
    return 2 * (2 * x - 1) * current - before


_register("chebyshev_polynomial_t", lambda x: x, _chebyshev)
_register("chebyshev_polynomial_u", lambda x: 2 * x, _chebyshev)
_register("chebyshev_polynomial_v", lambda x: 2 * x - 1, _chebyshev)
_register("chebyshev_polynomial_w", lambda x: 2 * x + 1, _chebyshev)
_register("shifted_chebyshev_polynomial_t", lambda x: 2 * x - 1, _shifted_chebyshev)
_register("shifted_chebyshev_polynomial_u", lambda x: 2 * (2 * x - 1), _shifted_chebyshev)
_register("shifted_chebyshev_polynomial_v", lambda x: 2 * (2 * x - 1) - 1, _shifted_chebyshev)
_register("shifted_chebyshev_polynomial_w", lambda x: 2 * (2 * x - 1) + 1, _shifted_chebyshev)
_register("hermite_polynomial_h", lambda x: 2 * x, lambda k, x, p, q: 2 * x * p - 2 * k * q)
_register("hermite_polynomial_he", lambda x: x, lambda k, x, p, q: x * p - k * q)
_register(
    "laguerre_polynomial_l",
    lambda x: 1 - x,
    lambda k, x, p, q: ((2 * k + 1 - x) * p - k * q) / (k + 1),
)
_register(
    "legendre_polynomial_p",
    lambda x: x,
    lambda k, x, p, q: ((2 * k + 1) * x * p - k * q) / (k + 1),
)
