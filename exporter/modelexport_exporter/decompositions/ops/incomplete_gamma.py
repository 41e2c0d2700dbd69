"""The regularized incomplete gamma functions P(a, x) and Q(a, x), by sums of a fixed length.

The series of P for x up to a; Gauss-Laguerre quadrature of Q for larger x; Gauss-Legendre
quadrature about the peak of the integrand for a from 100 on (Numerical Recipes, 3rd ed., 6.2).
"""

from __future__ import annotations

import math
from functools import cache

import numpy as np
import torch
from torch import Tensor

from modelexport_exporter.decompositions.ops.arithmetic import broadcast, constants
from modelexport_exporter.decompositions.ops.gamma_functions import lgamma
from modelexport_exporter.decompositions.registry import Family

FAMILY = Family("Incomplete gamma functions", __doc__)

_LARGE = 100.0
_TERMS = 128
"""Of the series; the last is 1e-17 of the first for x = a = 100."""
_LAGUERRE, _LEGENDRE = 100, 48
_STIRLING = (1 / 12, -1 / 360, 1 / 1260, -1 / 1680)
_METHOD = "series or quadrature of a fixed length, in float64"
_ACCURACY = "1e-12"


@cache
def _laguerre() -> tuple[list[float], list[float]]:
    """Return places and logarithms of weights of the quadrature over [0, inf) with exp(-u)."""
    places, weights = np.polynomial.laguerre.laggauss(_LAGUERRE)
    kept = weights > 0
    return places[kept].tolist(), np.log(weights[kept]).tolist()


@cache
def _legendre() -> tuple[list[float], list[float]]:
    """Return places and weights of the quadrature over [0, 1]."""
    places, weights = np.polynomial.legendre.leggauss(_LEGENDRE)
    return ((places + 1) / 2).tolist(), (weights / 2).tolist()


def _series(a: Tensor, x: Tensor) -> Tensor:
    """Return P for x up to a, or up to 1: x^a exp(-x) / Γ(a + 1) · Σ xᵏ / ((a + 1) … (a + k))."""
    k = torch.arange(1, _TERMS, dtype=torch.float64, device=x.device)
    ratios = x.unsqueeze(-1) / (a.unsqueeze(-1) + k)
    total = 1 + torch.exp(torch.cumsum(torch.log(ratios), -1)).sum(-1)
    return torch.exp(a * torch.log(x) - x - lgamma(a + 1)) * total


def _laguerre_tail(a: Tensor, x: Tensor) -> Tensor:
    """Return Q for x above 1 and a: x^(a-1) exp(-x) / Γ(a) · ∫ exp(-u) (1 + u/x)^(a-1) du."""
    places, weights = (constants(each, x.device) for each in _laguerre())
    powers = (a - 1).unsqueeze(-1) * torch.log1p(places / x.unsqueeze(-1))
    total = torch.exp(powers + weights).sum(-1)
    return torch.exp((a - 1) * torch.log(x) - x - lgamma(a)) * total


def _about_peak(a: Tensor, x: Tensor) -> Tensor:
    """Return Q where it is an integral from x above the peak, otherwise -P; for large a."""
    places, weights = (constants(each, x.device) for each in _legendre())
    peak = a - 1
    width = torch.sqrt(peak)
    above = torch.maximum(peak + 11.5 * width, x + 6 * width)
    below = torch.minimum(peak - 7.5 * width, x - 5 * width).clamp(min=0.0)
    end = torch.where(x > peak, above, below)
    t = x.unsqueeze(-1) + (end - x).unsqueeze(-1) * places
    p = peak.unsqueeze(-1)
    # t/p near 1: the logarithm of 1 + d keeps the digits of d.
    values = torch.exp(p * torch.log1p((t - p) / p) - (t - p))
    inverse = 1 / peak
    correction = torch.zeros_like(peak)
    for coefficient in reversed(_STIRLING):
        correction = correction * inverse * inverse + coefficient
    scale = torch.exp(-correction * inverse) / torch.sqrt(2 * math.pi * peak)
    return (values * weights).sum(-1) * (end - x) * scale


def _of_usual(a: Tensor, x: Tensor, usual: Tensor) -> tuple[Tensor, Tensor]:
    """Return P and Q where both are positive and finite."""
    large = usual & (a >= _LARGE)
    low = usual & ~large & ((x <= 1) | (x <= a))
    high = usual & ~large & ~low
    series = _series(torch.where(low, a, 1.0), torch.where(low, x, 1.0))
    tail = _laguerre_tail(torch.where(high, a, 1.0), torch.where(high, x, 2.0))
    peak = _about_peak(torch.where(large, a, _LARGE), torch.where(large, x, _LARGE))
    from_above = x > a - 1
    lower = torch.where(from_above, 1 - peak, -peak)
    upper = torch.where(from_above, peak, 1 + peak)
    return (
        torch.where(low, series, torch.where(high, 1 - tail, lower)),
        torch.where(low, 1 - series, torch.where(high, tail, upper)),
    )


def _both(a: Tensor, x: Tensor) -> tuple[Tensor, Tensor]:
    """Return P and Q in float64, at the edges as torch."""
    a, x = broadcast(a.to(torch.float64), x.to(torch.float64))
    a_inf, x_inf = a == float("inf"), x == float("inf")
    usual = (a > 0) & (x > 0) & ~a_inf & ~x_inf
    lower, upper = _of_usual(a, x, usual)
    nothing, everything = (a != 0) & ((x == 0) | a_inf), (a == 0) | x_inf
    undefined = (a < 0) | (x < 0) | (a_inf & x_inf) | ((a == 0) & ~(x > 0))
    undefined = undefined | ~(usual | nothing | everything)
    lower = torch.where(nothing, 0.0, torch.where(everything, 1.0, lower))
    upper = torch.where(nothing, 1.0, torch.where(everything, 0.0, upper))
    nan = float("nan")
    return torch.where(undefined, nan, lower), torch.where(undefined, nan, upper)


def _narrow(value: Tensor, a: Tensor, x: Tensor) -> Tensor:
    return value.to(torch.promote_types(a.dtype, x.dtype))


@FAMILY.decomposes("aten::igamma", "aten::special_gammainc", method=_METHOD, accuracy=_ACCURACY)
def igamma(a: Tensor, x: Tensor) -> Tensor:
    return _narrow(_both(a, x)[0], a, x)


@FAMILY.decomposes("aten::igammac", "aten::special_gammaincc", method=_METHOD, accuracy=_ACCURACY)
def igammac(a: Tensor, x: Tensor) -> Tensor:
    return _narrow(_both(a, x)[1], a, x)
