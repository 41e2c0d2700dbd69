"""Bessel's functions and Airy's, by the formulas and coefficients of Cephes that torch uses."""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
from torch import Tensor

from modelexport_exporter.decompositions.ops import cephes
from modelexport_exporter.decompositions.ops.arithmetic import (
    chebyshev,
    in_single_precision,
    infinite,
    polynomial,
    undefined,
)
from modelexport_exporter.decompositions.registry import Family

FAMILY = Family("Bessel functions", __doc__)

_TWO_OVER_PI = 2 / math.pi
_RATIONAL = "rational approximations on [0, 5] and in 5/x (Cephes)"
_SERIES = "Chebyshev series on [0, 8] and in 1/x (Cephes)"
_K_SERIES = "Chebyshev series on [0, 2] and in 1/x (Cephes)"
_ACCURACY = "5e-7 (float32), 1e-14 (float64)"


def _asymptotic(x: Tensor, z: Tensor, *tables: Sequence[float]) -> tuple[Tensor, Tensor]:
    """Return amplitude and phase terms of the expansion in z = (5/x)²."""
    pp, pq, qp, qq = (polynomial(z, table) for table in tables)
    return pp / pq, 5 / x * (qp / qq)


_J0 = (cephes.J0_PP, cephes.J0_PQ, cephes.J0_QP, cephes.J0_QQ)
_J1 = (cephes.J1_PP, cephes.J1_PQ, cephes.J1_QP, cephes.J1_QQ)


@FAMILY.decomposes("aten::special_bessel_j0", method=_RATIONAL, accuracy=_ACCURACY)
@in_single_precision
def special_bessel_j0(x: Tensor) -> Tensor:
    x = x.abs()
    small = x.clamp(max=5.0)
    square = small * small
    near = polynomial(square, cephes.J0_RP) / polynomial(square, cephes.J0_RQ)
    near = (square - 5.78318596294678452118) * (square - 30.4712623436620863991) * near
    large = x.clamp(min=5.0)
    cosine, sine = _asymptotic(large, 25 / (large * large), *_J0)
    phase = large - math.pi / 4
    far = (cosine * torch.cos(phase) - sine * torch.sin(phase)) * math.sqrt(_TWO_OVER_PI)
    return torch.where(x <= 5, near, far / torch.sqrt(large))


@FAMILY.decomposes("aten::special_bessel_j1", method=_RATIONAL, accuracy=_ACCURACY)
@in_single_precision
def special_bessel_j1(x: Tensor) -> Tensor:
    size = x.abs()
    small = size.clamp(max=5.0)
    square = small * small
    near = polynomial(square, cephes.J1_RP) / polynomial(square, cephes.J1_RQ) * small
    near = near * (square - 14.6819706421238932572) * (square - 49.2184563216946036703)
    large = size.clamp(min=5.0)
    cosine, sine = _asymptotic(large, (5 / large) * (5 / large), *_J1)
    phase = large - 3 * math.pi / 4
    far = (cosine * torch.cos(phase) - sine * torch.sin(phase)) * math.sqrt(_TWO_OVER_PI)
    value = torch.where(size <= 5, near, far / torch.sqrt(large))
    return torch.where(x < 0, -value, value)


@FAMILY.decomposes("aten::special_bessel_y0", method=_RATIONAL, accuracy=_ACCURACY)
@in_single_precision
def special_bessel_y0(x: Tensor) -> Tensor:
    small = x.clamp(max=5.0)
    square = small * small
    near = polynomial(square, cephes.Y0_YP) / polynomial(square, cephes.Y0_YQ)
    near = near + _TWO_OVER_PI * torch.log(small) * special_bessel_j0(small)
    large = x.clamp(min=5.0)
    cosine, sine = _asymptotic(large, 25 / (large * large), *_J0)
    phase = large - math.pi / 4
    far = (cosine * torch.sin(phase) + sine * torch.cos(phase)) * math.sqrt(_TWO_OVER_PI)
    return _from_positive(x, torch.where(x <= 5, near, far / torch.sqrt(large)), -1)


@FAMILY.decomposes("aten::special_bessel_y1", method=_RATIONAL, accuracy=_ACCURACY)
@in_single_precision
def special_bessel_y1(x: Tensor) -> Tensor:
    small = x.clamp(max=5.0)
    square = small * small
    near = small * polynomial(square, cephes.Y1_YP) / polynomial(square, cephes.Y1_YQ)
    near = near + _TWO_OVER_PI * (special_bessel_j1(small) * torch.log(small) - 1 / small)
    large = x.clamp(min=5.0)
    cosine, sine = _asymptotic(large, (5 / large) * (5 / large), *_J1)
    phase = large - 3 * math.pi / 4
    far = (cosine * torch.sin(phase) + sine * torch.cos(phase)) * math.sqrt(_TWO_OVER_PI)
    return _from_positive(x, torch.where(x <= 5, near, far / torch.sqrt(large)), -1)


def _from_positive(x: Tensor, value: Tensor, sign: int) -> Tensor:
    """Return the value where x is positive, infinity of that sign at 0, NaN below."""
    value = torch.where(x == 0, infinite(x, sign), value)
    return torch.where(x < 0, undefined(x), value)


@FAMILY.decomposes("aten::special_i0e", method=_SERIES, accuracy=_ACCURACY)
@in_single_precision
def special_i0e(x: Tensor) -> Tensor:
    return _scaled_i(x.abs(), cephes.I0_A, cephes.I0_B)


@FAMILY.decomposes(
    "aten::i0", "aten::special_modified_bessel_i0", method=_SERIES, accuracy=_ACCURACY
)
@in_single_precision
def i0(x: Tensor) -> Tensor:
    return torch.exp(x.abs()) * special_i0e(x)


@FAMILY.decomposes("aten::special_i1e", method=_SERIES, accuracy=_ACCURACY)
@in_single_precision
def special_i1e(x: Tensor) -> Tensor:
    size = x.abs()
    small = size.clamp(max=8.0)
    large = size.clamp(min=8.0)
    near = chebyshev(small / 2 - 2, cephes.I1_A) * small
    far = chebyshev(32 / large - 2, cephes.I1_B) / torch.sqrt(large)
    value = torch.where(size <= 8, near, far)
    return torch.where(x < 0, -value, value)


@FAMILY.decomposes(
    "aten::special_i1", "aten::special_modified_bessel_i1", method=_SERIES, accuracy=_ACCURACY
)
@in_single_precision
def special_i1(x: Tensor) -> Tensor:
    return torch.exp(x.abs()) * special_i1e(x)


def _scaled_i(size: Tensor, near: Sequence[float], far: Sequence[float]) -> Tensor:
    small = size.clamp(max=8.0)
    large = size.clamp(min=8.0)
    return torch.where(
        size <= 8,
        chebyshev(small / 2 - 2, near),
        chebyshev(32 / large - 2, far) / torch.sqrt(large),
    )


@FAMILY.decomposes("aten::special_scaled_modified_bessel_k0", method=_K_SERIES, accuracy=_ACCURACY)
@in_single_precision
def special_scaled_modified_bessel_k0(x: Tensor) -> Tensor:
    small, far = _k_parts(x, cephes.K0_B)
    near = chebyshev(small * small - 2, cephes.K0_A) - torch.log(0.5 * small) * i0(small)
    return _from_positive(x, torch.where(x <= 2, near * torch.exp(small), far), 1)


@FAMILY.decomposes("aten::special_scaled_modified_bessel_k1", method=_K_SERIES, accuracy=_ACCURACY)
@in_single_precision
def special_scaled_modified_bessel_k1(x: Tensor) -> Tensor:
    small, far = _k_parts(x, cephes.K1_B)
    near = chebyshev(small * small - 2, cephes.K1_A) / small
    near = near + torch.log(0.5 * small) * special_i1(small)
    return _from_positive(x, torch.where(x <= 2, near * torch.exp(small), far), 1)


def _k_parts(x: Tensor, far: Sequence[float]) -> tuple[Tensor, Tensor]:
    large = x.clamp(min=2.0)
    return x.clamp(max=2.0), chebyshev(8 / large - 2, far) / torch.sqrt(large)


@FAMILY.decomposes("aten::special_modified_bessel_k0", method=_K_SERIES, accuracy=_ACCURACY)
@in_single_precision
def special_modified_bessel_k0(x: Tensor) -> Tensor:
    return special_scaled_modified_bessel_k0(x) * torch.exp(-x)


@FAMILY.decomposes("aten::special_modified_bessel_k1", method=_K_SERIES, accuracy=_ACCURACY)
@in_single_precision
def special_modified_bessel_k1(x: Tensor) -> Tensor:
    return special_scaled_modified_bessel_k1(x) * torch.exp(-x)


@FAMILY.decomposes(
    "aten::special_spherical_bessel_j0",
    method="sin(x) / x, the power series below 1/2",
    accuracy=_ACCURACY,
)
@in_single_precision
def special_spherical_bessel_j0(x: Tensor) -> Tensor:
    square = x * x
    terms = tuple((-1) ** k / math.factorial(2 * k + 1) for k in range(6, -1, -1))
    value = torch.where(x.abs() < 0.5, polynomial(square, terms), torch.sin(x) / x)
    return torch.where(torch.isinf(x), torch.zeros_like(x), value)


@FAMILY.decomposes(
    "aten::special_airy_ai",
    method="power series on (-2.09, 2.09), asymptotic expansions outside (Cephes airy)",
    accuracy="1e-6 (float32), 1e-12 (float64)",
)
@in_single_precision
def special_airy_ai(x: Tensor) -> Tensor:
    value = torch.where(x < -2.09, _airy_left(x), _airy_series(x))
    value = torch.where(x >= 2.09, _airy_right(x), value)
    return torch.where(torch.isinf(x), undefined(x), value)


def _airy_series(x: Tensor) -> Tensor:
    x = x.clamp(-2.09, 2.09)
    cube = x * x * x
    even, odd = torch.ones_like(x), x
    f, g = even, odd
    for k in range(1, 15):
        even = even * cube / ((3 * k - 1) * (3 * k))
        odd = odd * cube / ((3 * k) * (3 * k + 1))
        f, g = f + even, g + odd
    return 0.355028053887817239260 * f - 0.258819403792806798405 * g


def _airy_left(x: Tensor) -> Tensor:
    x = x.clamp(max=-2.09)
    root = torch.sqrt(-x)
    zeta = -2 * x * root / 3
    z = 1 / zeta
    square = z * z
    cosine = polynomial(square, cephes.AIRY_AFN) / polynomial(square, cephes.AIRY_AFD)
    sine = polynomial(square, cephes.AIRY_AGN) / polynomial(square, cephes.AIRY_AGD)
    t = zeta + math.pi / 4
    value = torch.sin(t) * (1 + square * cosine) - torch.cos(t) * (z * sine)
    return value / (math.sqrt(math.pi) * torch.sqrt(root))


def _airy_right(x: Tensor) -> Tensor:
    x = x.clamp(min=2.09)
    zeta = 2 * x * torch.sqrt(x) / 3
    ratio = polynomial(1 / zeta, cephes.AIRY_AN) / polynomial(1 / zeta, cephes.AIRY_AD)
    return ratio / (2 * math.sqrt(math.pi) * torch.sqrt(torch.sqrt(x))) * torch.exp(-zeta)


FAMILY.composites |= {"aten::special_i0"}
