"""Functions of complex numbers, from their real and imaginary parts.

The formulas are those of the C library's complex functions, without their cases for infinities.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import accumulate
from typing import Any

import torch
from torch import Tensor

from modelexport_exporter.decompositions.complex.pairs import (
    Forms,
    Number,
    constant,
    halves,
    join,
    parts,
    whole,
)

FORMS = Forms()
_UNROLLED = 16
"""The largest whole exponent that is multiplied out."""


@FORMS.form_of("aten::exp")
def exp(x: Tensor) -> Tensor:
    real, imaginary = halves(x)
    size = torch.exp(real)
    return join(size * torch.cos(imaginary), size * torch.sin(imaginary))


@FORMS.form_of("aten::log")
def log(x: Tensor) -> Tensor:
    return join(torch.log(_size(x)), torch.atan2(*reversed(halves(x))))


@FORMS.form_of("aten::angle")
def angle(x: Tensor) -> Tensor:
    """Return the phase; of a negative number with the imaginary part 0 or -0, pi or -pi."""
    return torch.atan2(*reversed(halves(x)))


def _size(x: Tensor) -> Tensor:
    """Return |x| without overflow: the larger part times a root of at most 2."""
    a, b = (part.abs() for part in halves(x))
    larger, smaller = torch.maximum(a, b), torch.minimum(a, b)
    ratio = torch.where(larger > 0, smaller / torch.where(larger > 0, larger, 1.0), 0.0)
    return larger * torch.sqrt(1 + ratio * ratio)


@FORMS.form_of("aten::sqrt")
def sqrt(x: Tensor) -> Tensor:
    """Return the root with a real part that is not negative."""
    real, imaginary = halves(x)
    # The sum of two numbers that are not negative: nothing cancels.
    half = torch.sqrt((_size(x) + real.abs()) / 2)
    other = torch.where(half > 0, imaginary.abs() / (2 * torch.where(half > 0, half, 1.0)), 0.0)
    right = real >= 0
    size = torch.where(right, other, half)
    return join(torch.where(right, half, other), torch.where(torch.signbit(imaginary), -size, size))


@FORMS.form_of("aten::rsqrt")
def rsqrt(x: Tensor) -> Tensor:
    return torch.reciprocal(sqrt(x))


@FORMS.form_of("aten::sin")
def sin(x: Tensor) -> Tensor:
    a, b = halves(x)
    return join(torch.sin(a) * torch.cosh(b), torch.cos(a) * torch.sinh(b))


@FORMS.form_of("aten::cos")
def cos(x: Tensor) -> Tensor:
    a, b = halves(x)
    return join(torch.cos(a) * torch.cosh(b), -torch.sin(a) * torch.sinh(b))


@FORMS.form_of("aten::sinh")
def sinh(x: Tensor) -> Tensor:
    a, b = halves(x)
    return join(torch.sinh(a) * torch.cos(b), torch.cosh(a) * torch.sin(b))


@FORMS.form_of("aten::cosh")
def cosh(x: Tensor) -> Tensor:
    a, b = halves(x)
    return join(torch.cosh(a) * torch.cos(b), torch.sinh(a) * torch.sin(b))


@FORMS.form_of("aten::tanh")
def tanh(x: Tensor) -> Tensor:
    """Return sinh(x) / cosh(x), divided by cosh² of the real part, which would overflow."""
    a, b = halves(x)
    t, u = torch.tanh(a), torch.tan(b)
    fall = 1 - t * t
    below = 1 + (t * u) ** 2
    return join(t * (1 + u * u) / below, u * fall / below)


@FORMS.form_of("aten::sgn")
def sgn(x: Tensor) -> Tensor:
    size = _size(x).unsqueeze(-1)
    zero = size == 0
    return whole(torch.where(zero, 0.0, parts(x) / torch.where(zero, 1.0, size)))


@FORMS.form_of("aten::sigmoid")
def sigmoid(x: Tensor) -> Tensor:
    return (torch.tanh(x * 0.5) + 1) * 0.5


@FORMS.form_of("aten::pow.Tensor_Scalar")
def power(x: Tensor, exponent: Number) -> Tensor:
    if exponent == 0:
        return torch.ones_like(x)
    if exponent in range(1, _UNROLLED + 1):
        result = x
        for _ in range(int(complex(exponent).real) - 1):
            result = result * x
        return result
    if -exponent in range(1, _UNROLLED + 1):
        return torch.reciprocal(power(x, -exponent))
    return torch.sqrt(x) if exponent == 0.5 else torch.exp(torch.log(x) * exponent)


@FORMS.form_of("aten::pow.Tensor_Tensor")
def power_of_tensors(x: Tensor, exponent: Tensor) -> Tensor:
    dtype = torch.promote_types(x.dtype, exponent.dtype)
    base = whole(parts(x, dtype))
    return torch.exp(torch.log(base) * whole(parts(exponent, dtype)))


@FORMS.form_of("aten::eq.Tensor", "aten::eq.Scalar")
def equal(x: Tensor, y: Tensor | Number) -> Tensor:
    difference = parts(x - y)
    return (difference == 0).all(-1)


@FORMS.form_of("aten::ne.Tensor", "aten::ne.Scalar")
def unequal(x: Tensor, y: Tensor | Number) -> Tensor:
    return ~equal(x, y)


@FORMS.form_of("aten::isnan")
def isnan(x: Tensor) -> Tensor:
    return torch.isnan(parts(x)).any(-1)


def _with_a_number(x: Tensor, y: Tensor | Number, *, alpha: Number = 1) -> bool:
    """Return whether something is real: torch.onnx has what is complex throughout."""
    return not (isinstance(y, Tensor) and x.is_complex() and y.is_complex() and alpha == 1)


def _of_two(operator: Callable[[Tensor, Tensor], Tensor], *names: str) -> None:
    """Register an operator of two operands: what is real or a number becomes a complex tensor."""

    @FORMS.form_of(*names, applies=_with_a_number)
    def combine(x: Tensor, y: Tensor | Number, *, alpha: Number = 1) -> Tensor:
        dtype = torch.result_type(x, y)
        x = whole(parts(x, dtype))
        y = whole(parts(y, dtype)) if isinstance(y, Tensor) else constant(y, x)
        return operator(x, y if alpha == 1 else y * constant(alpha, x))


_of_two(torch.add, "aten::add.Tensor", "aten::add.Scalar")
_of_two(torch.sub, "aten::sub.Tensor", "aten::sub.Scalar")
_of_two(torch.mul, "aten::mul.Tensor", "aten::mul.Scalar")
_of_two(torch.div, "aten::div.Tensor", "aten::div.Scalar")


@FORMS.form_of("aten::_conj_physical")
def conjugate(x: Tensor) -> Tensor:
    real, imaginary = halves(x)
    return join(real, -imaginary)


@FORMS.form_of("aten::var_mean.correction")
def var_mean(x: Tensor, dim: list[int] | None = None, **options: Any) -> tuple[Tensor, Tensor]:  # noqa: ANN401
    dims = list(range(x.dim())) if dim is None else dim
    return torch.var(x, dim, **options), torch.mean(x, dims, options.get("keepdim", False))


@FORMS.form_of("aten::std_mean.correction")
def std_mean(x: Tensor, dim: list[int] | None = None, **options: Any) -> tuple[Tensor, Tensor]:  # noqa: ANN401
    variance, mean = var_mean(x, dim, **options)
    return torch.sqrt(variance), mean


@FORMS.form_of("aten::addcmul")
def addcmul(x: Tensor, a: Tensor, b: Tensor, *, value: Number = 1) -> Tensor:
    return x + (a * b if value == 1 else a * b * value)


@FORMS.form_of("aten::addcdiv")
def addcdiv(x: Tensor, a: Tensor, b: Tensor, *, value: Number = 1) -> Tensor:
    return x + (a / b if value == 1 else a / b * value)


@FORMS.form_of("aten::cumprod", applies=lambda x, dim, **_: type(x.shape[dim]) is int)
def cumprod(x: Tensor, dim: int, *, dtype: torch.dtype | None = None) -> Tensor:
    factors = (x if dtype is None else x.to(dtype)).unbind(dim)
    return torch.stack(list(accumulate(factors, torch.mul)), dim)


@FORMS.form_of("aten::cumsum", applies=lambda x, *_, **__: x.dim() > 0)
def cumsum(x: Tensor, dim: int, *, dtype: torch.dtype | None = None) -> Tensor:
    return whole(torch.cumsum(parts(x, dtype or x.dtype), dim % x.dim()))


@FORMS.form_of("aten::prod.dim_int")
def prod(x: Tensor, dim: int, keepdim: bool = False, *, dtype: torch.dtype | None = None) -> Tensor:
    factors = (x if dtype is None else x.to(dtype)).unbind(dim)
    result = factors[0]
    for factor in factors[1:]:
        result = result * factor
    return result.unsqueeze(dim) if keepdim else result


@FORMS.form_of("aten::mm", "aten::bmm", "aten::matmul", "aten::mv", "aten::dot")
def matmul(a: Tensor, b: Tensor) -> Tensor:
    """Return a @ b, from two or four products of real matrices."""
    dtype = torch.promote_types(a.dtype, b.dtype)
    (ar, ai), (br, bi) = halves(a, dtype), halves(b, dtype)
    if not a.is_complex():
        return join(ar @ br, ar @ bi)
    if not b.is_complex():
        return join(ar @ br, ai @ br)
    return join(ar @ br - ai @ bi, ar @ bi + ai @ br)


@FORMS.form_of("aten::addmm", "aten::baddbmm")
def add_product(x: Tensor, a: Tensor, b: Tensor, *, beta: Number = 1, alpha: Number = 1) -> Tensor:
    product = matmul(a, b) if alpha == 1 else matmul(a, b) * alpha
    if beta == 0:
        return product
    return (x if beta == 1 else x * beta) + product
