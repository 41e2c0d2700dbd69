"""Orthogonal polynomials of a fixed degree, by their three-term recurrences."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from modelexport_exporter.decompositions.ops.arithmetic import in_single_precision
from modelexport_exporter.decompositions.registry import Family

FAMILY = Family("Orthogonal polynomials", __doc__)

_METHOD = "three-term recurrence, unrolled"
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


def _register(name: str, first: Callable[[Tensor], Tensor], following: Next) -> None:
    @FAMILY.decomposes(f"aten::special_{name}.n_scalar", method=_METHOD, accuracy="1e-6 (float32)")
    def polynomial(x: Tensor, n: float) -> Tensor:
        @in_single_precision
        def value(x: Tensor) -> Tensor:
            return _recurrence(x, int(n), first(x), following)

        return value(x)


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
