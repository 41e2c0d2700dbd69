"""The gamma function's logarithm and its derivatives, and Hurwitz' zeta function."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from modelexport_exporter.decompositions.ops.arithmetic import (
    broadcast,
    in_double_precision,
    in_single_precision,
    infinite,
    polynomial,
    undefined,
)
from modelexport_exporter.decompositions.registry import Family

FAMILY = Family("Gamma functions", __doc__)

_LANCZOS = (
    676.5203681218851, -1259.1392167224028, 771.32342877765313, -176.61502916214059,
    12.507343278686905, -0.13857109526572012, 9.9843695780195716e-6, 1.5056327351493116e-7,
)  # fmt: skip
_LANCZOS_FIRST = 0.99999999999980993
_LANCZOS_G = 7
_DIGAMMA = (1 / 12, -691 / 32760, 1 / 132, -1 / 240, 1 / 252, -1 / 120, 1 / 12)
_MOST_NEGATIVE = 32
_ZETA = (
    12.0, -720.0, 30240.0, -1209600.0, 47900160.0, -1.8924375803183791606e9, 7.47242496e10,
    -2.950130727918164224e12, 1.1646782814350067249e14, -4.5979787224074726105e15,
    1.8152105401943546773e17, -7.1661652561756670113e18,
)  # fmt: skip


@FAMILY.decomposes(
    "aten::lgamma",
    method="Lanczos (g = 7, n = 9; Godfrey's coefficients), reflected below 1/2; in float64",
    accuracy="1e-14",
)
@in_double_precision
def lgamma(x: Tensor) -> Tensor:
    reflected = x < 0.5
    z = torch.where(reflected, 1 - x, x) - 1
    series = torch.full_like(z, _LANCZOS_FIRST)
    for k, coefficient in enumerate(_LANCZOS, start=1):
        series = series + coefficient / (z + k)
    t = z + _LANCZOS_G + 0.5
    # (z + 1/2) log t - t, arranged so that large z do not overflow early.
    value = (z + 0.5) * (torch.log(t) - 1) - _LANCZOS_G + math.log(2 * math.pi) / 2
    value = value + torch.log(series)
    sine = torch.sin(math.pi * (x - torch.round(x))).abs()
    value = torch.where(reflected, math.log(math.pi) - torch.log(sine) - value, value)
    value = torch.where((x == 1) | (x == 2), torch.zeros_like(x), value)
    return torch.where(torch.isinf(x), infinite(x), value)


@FAMILY.decomposes(
    "aten::digamma",
    method="recurrence to x + 10, then the asymptotic series (Cephes psi); in float64",
    accuracy="1e-13",
)
@in_double_precision
def digamma(x: Tensor) -> Tensor:
    negative = x < 0
    y = torch.where(negative, 1 - x, x)
    steps = torch.reciprocal(y)
    for k in range(1, 10):
        steps = steps + 1 / (y + k)
    shifted = y + 10
    inverse = 1 / (shifted * shifted)
    value = torch.log(shifted) - 0.5 / shifted - inverse * polynomial(inverse, _DIGAMMA) - steps
    part = x - torch.trunc(x)
    # onnxruntime has no tangent of float64.
    cotangent = torch.cos(math.pi * part) / torch.sin(math.pi * part)
    value = torch.where(negative, value - math.pi * cotangent, value)
    value = torch.where(negative & (part == 0), undefined(x), value)
    return torch.where(x == float("inf"), x, value)


@FAMILY.decomposes(
    "aten::special_zeta",
    method="Euler-Maclaurin summation after 10 terms (Cephes zeta)",
    accuracy="1e-6 (float32), 1e-14 (float64)",
)
def special_zeta(s: Tensor, q: Tensor) -> Tensor:
    s, q = broadcast(*_promote(s, q))
    total, last = torch.pow(q, -s), q
    for _ in range(1, 10):
        last = last + 1
        total = total + torch.pow(last, -s)
    return _with_tail(s, q, total, last)


def _zeta_of_negatives(s: Tensor, q: Tensor) -> Tensor:
    """Return zeta(s, q) for whole s and q from -32 on: terms until q + k is beyond 9, as Cephes."""
    total, last = torch.pow(q, -s), q
    for k in range(1, 10 + _MOST_NEGATIVE):
        goes_on = last <= 9 if k >= 10 else torch.ones_like(last, dtype=torch.bool)
        following = last + 1
        total = torch.where(goes_on, total + torch.pow(following, -s), total)
        last = torch.where(goes_on, following, last)
    total = torch.where(q < -_MOST_NEGATIVE, undefined(total), total)
    return _with_tail(s, q, total, last)


def _with_tail(s: Tensor, q: Tensor, total: Tensor, last: Tensor) -> Tensor:
    """Return the sum up to the last term with the rest of the series."""
    power = torch.pow(last, -s)
    total = total + power * last / (s - 1) - power / 2
    factor = torch.ones_like(s)
    for k, divisor in enumerate(_ZETA):
        factor = factor * (s + 2 * k)
        power = power / last
        term = factor * power / divisor
        total = total + torch.where(power == 0, torch.zeros_like(term), term)
        factor = factor * (s + 2 * k + 1)
        power = power / last
    total = torch.where((q <= 0) & (q == torch.floor(q)), infinite(total), total)
    return torch.where(s == 1, infinite(total), torch.where(s < 1, undefined(total), total))


def _promote(s: Tensor, q: Tensor) -> tuple[Tensor, Tensor]:
    dtype = torch.promote_types(s.dtype, q.dtype)
    dtype = dtype if dtype == torch.float64 else torch.float32
    return s.to(dtype), q.to(dtype)


@FAMILY.decomposes(
    "aten::polygamma",
    method="digamma; the asymptotic series for n = 1 (torch's trigamma); n! zeta(n + 1, x) above, "
    f"from x = -{_MOST_NEGATIVE} on",
    accuracy="1e-6 (float32), 1e-7 (float64, n = 1: torch's own series)",
)
def polygamma(n: int, x: Tensor) -> Tensor:
    if n == 0:
        return digamma(x)
    if n == 1:
        return _trigamma(x)

    @in_single_precision
    def value(x: Tensor) -> Tensor:
        scale = math.copysign(math.factorial(n), 1 if n % 2 else -1)
        return scale * _zeta_of_negatives(torch.full_like(x, n + 1), x)

    return value(x)


@in_single_precision
def _trigamma(x: Tensor) -> Tensor:
    reflected = x < 0.5
    y = torch.where(reflected, 1 - x, x)
    total = torch.reciprocal(y * y)
    for k in range(1, 6):
        total = total + 1 / ((y + k) * (y + k))
    last = y + 6
    inverse = 1 / (last * last)
    tail = 1 + 1 / (2 * last) + inverse * (1 / 6 - inverse * (1 / 30 - inverse / 42))
    total = total + tail / last
    # The sine of pi * x itself, as eager: a multiple of pi is no zero of it.
    sine = torch.sin(math.pi * x)
    return torch.where(reflected, (math.pi**2) / (sine * sine) - total, total)


@FAMILY.decomposes("aten::special_zeta.other_scalar", method="as for tensors")
def special_zeta_of_number(s: Tensor, q: float) -> Tensor:
    return special_zeta(s, torch.full_like(_promote(s, s)[0], q))


@FAMILY.decomposes("aten::special_zeta.self_scalar", method="as for tensors")
def special_zeta_at_number(s: float, q: Tensor) -> Tensor:
    return special_zeta(torch.full_like(_promote(q, q)[0], s), q)


@FAMILY.decomposes("aten::mvlgamma", method="sum of lgamma(x - k/2)", accuracy="1e-6 (float32)")
def mvlgamma(x: Tensor, p: int) -> Tensor:
    total = lgamma(x) + p * (p - 1) / 4 * math.log(math.pi)
    for k in range(1, p):
        total = total + lgamma(x - k / 2)
    return total


FAMILY.composites |= {
    "aten::special_gammaln",
    "aten::special_digamma",
    "aten::special_psi",
    "aten::special_polygamma",
    "aten::special_multigammaln",
}
