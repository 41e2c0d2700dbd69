"""Inverse functions of complex numbers: logarithms, and those of sines, cosines and tangents.

The formulas are Kahan's ("Branch cuts for complex elementary functions", 1987), which have the
right signs on the cuts, in double precision.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import torch
from torch import Tensor

from modelexport_exporter.decompositions.complex.pairs import Forms, halves, join, whole

FORMS = Forms()

Halves = tuple[Tensor, Tensor]
"""The real and the imaginary part, in double precision."""


Compute = Callable[[Tensor, Tensor], Halves]
"""A function of both parts."""


def _of(name: str) -> Callable[[Compute], Compute]:
    """Register what computes a function from double parts to double parts."""

    def register(compute: Compute) -> Compute:
        @FORMS.form_of(f"aten::{name}")
        def function(x: Tensor) -> Tensor:
            real, imaginary = compute(*halves(x, torch.complex128))
            return whole(torch.stack([real, imaginary], -1).to(x.dtype.to_real()))

        return compute

    return register


def _turned(compute: Compute, a: Tensor, b: Tensor) -> Halves:
    """Return f(iz) / i: the hyperbolic function of a circular one, and the reverse."""
    imaginary, real = compute(-b, a)
    return real, -imaginary


def _roots(a: Tensor, b: Tensor) -> tuple[Halves, Halves]:
    """Return the roots of 1 - z and of 1 + z."""
    below, above = torch.sqrt(join(1 - a, -b)), torch.sqrt(join(1 + a, b))
    return halves(below), halves(above)


@_of("asin")
def asin(a: Tensor, b: Tensor) -> Halves:
    (c, d), (e, f) = _roots(a, b)
    return torch.atan2(a, c * e - d * f), torch.asinh(c * f - d * e)


@_of("atanh")
def atanh(a: Tensor, b: Tensor) -> Halves:
    size = a.abs()
    real = torch.log1p(4 * size / ((1 - size) ** 2 + b * b)) / 4
    imaginary = torch.atan2(2 * b, (1 - a) * (1 + a) - b * b) / 2
    return torch.where(a < 0, -real, real), imaginary


@_of("acos")
def acos(a: Tensor, b: Tensor) -> Halves:
    (c, d), (e, f) = _roots(a, b)
    return 2 * torch.atan2(c, e), torch.asinh(e * d - f * c)


@_of("asinh")
def asinh(a: Tensor, b: Tensor) -> Halves:
    return _turned(asin, a, b)


@_of("acosh")
def acosh(a: Tensor, b: Tensor) -> Halves:
    c, d = halves(torch.sqrt(join(a - 1, b)))
    e, f = halves(torch.sqrt(join(a + 1, b)))
    return torch.asinh(c * e + d * f), 2 * torch.atan2(d, e)


@_of("atan")
def atan(a: Tensor, b: Tensor) -> Halves:
    return _turned(atanh, a, b)


@_of("log1p")
def log1p(a: Tensor, b: Tensor) -> Halves:
    near = torch.log1p(a * (2 + a) + b * b) / 2
    # Next to -1 the sum cancels.
    real = torch.where(a.abs() + b.abs() < 0.5, near, torch.log(torch.hypot(1 + a, b)))
    return real, torch.atan2(b, 1 + a)


@_of("expm1")
def expm1(a: Tensor, b: Tensor) -> Halves:
    half = torch.sin(b / 2)
    return torch.expm1(a) * torch.cos(b) - 2 * half * half, torch.exp(a) * torch.sin(b)


@FORMS.form_of("aten::log2")
def log2(x: Tensor) -> Tensor:
    return torch.log(x) * (1 / math.log(2))


@FORMS.form_of("aten::log10")
def log10(x: Tensor) -> Tensor:
    return torch.log(x) * (1 / math.log(10))


@FORMS.form_of("aten::tan")
def tan(x: Tensor) -> Tensor:
    return join(*_turned(lambda a, b: halves(torch.tanh(join(a, b))), *halves(x)))
