"""Shared by several families: dtypes, polynomials, series."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps

import torch
from torch import Tensor

Pointwise = Callable[..., Tensor]


def in_single_precision(function: Pointwise) -> Pointwise:
    """Compute half precision and integers in float32, as eager does; half precision goes back."""

    @wraps(function)
    def compute(x: Tensor, *args: object) -> Tensor:
        if x.dtype in (torch.float32, torch.float64):
            return function(x, *args)
        result = function(x.to(torch.float32), *args)
        return result.to(x.dtype) if x.dtype.is_floating_point else result

    return compute


def in_double_precision(function: Pointwise) -> Pointwise:
    """Compute in float64: cancellation would lose too many digits of float32."""

    @wraps(function)
    def compute(x: Tensor, *args: object) -> Tensor:
        result = function(x.to(torch.float64), *args)
        return result.to(x.dtype if x.dtype.is_floating_point else torch.float32)

    return compute


def polynomial(x: Tensor, coefficients: Sequence[float]) -> Tensor:
    """Evaluate by Horner's rule, highest power first."""
    result = torch.full_like(x, coefficients[0])
    for coefficient in coefficients[1:]:
        result = result * x + coefficient
    return result


def chebyshev(x: Tensor, coefficients: Sequence[float]) -> Tensor:
    """Evaluate a Chebyshev series by Clenshaw's rule, highest order first, as Cephes' chbevl."""
    previous = torch.zeros_like(x)
    before = previous
    result = torch.full_like(x, coefficients[0])
    for coefficient in coefficients[1:]:
        before, previous = previous, result
        result = x * previous - before + coefficient
    return 0.5 * (result - before)


def is_float(x: Tensor) -> bool:
    """Return whether the elements are real floating-point numbers."""
    return x.dtype.is_floating_point


def infinite(x: Tensor, sign: int = 1) -> Tensor:
    """Return infinity in the shape and dtype of x."""
    return torch.full_like(x, sign * float("inf"))


def undefined(x: Tensor) -> Tensor:
    """Return NaN in the shape and dtype of x."""
    return torch.full_like(x, float("nan"))


def broadcast(x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
    """Return both in their common shape."""
    x, y = torch.broadcast_tensors(x, y)  # type: ignore[no-untyped-call]
    return x, y


def constants(
    values: Sequence[float], device: torch.device, dtype: torch.dtype = torch.float64
) -> Tensor:
    """Return a tensor of the numbers.

    torch.tensor ends with detach_, which a graph without effects does not take.
    """
    return torch.stack([torch.full((), value, dtype=dtype, device=device) for value in values])
