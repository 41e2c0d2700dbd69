"""The family of erf: its inverse, its scaled complement, and the normal distribution."""

from __future__ import annotations

import math

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

FAMILY = Family("Error functions", __doc__)

_ERFINV_32: tuple[tuple[float, ...], ...] = (
    (2.81022636e-08, 3.43273939e-07, -3.5233877e-06, -4.39150654e-06, 0.00021858087,
     -0.00125372503, -0.00417768164, 0.246640727, 1.50140941),
    (-0.000200214257, 0.000100950558, 0.00134934322, -0.00367342844, 0.00573950773,
     -0.0076224613, 0.00943887047, 1.00167406, 2.83297682),
)  # fmt: skip
_ERFINV_64: tuple[tuple[float, ...], ...] = (
    (-3.6444120640178196996e-21, -1.685059138182016589e-19, 1.2858480715256400167e-18,
     1.115787767802518096e-17, -1.333171662854620906e-16, 2.0972767875968561637e-17,
     6.6376381343583238325e-15, -4.0545662729752068639e-14, -8.1519341976054721522e-14,
     2.6335093153082322977e-12, -1.2975133253453532498e-11, -5.4154120542946279317e-11,
     1.051212273321532285e-09, -4.1126339803469836976e-09, -2.9070369957882005086e-08,
     4.2347877827932403518e-07, -1.3654692000834678645e-06, -1.3882523362786468719e-05,
     0.0001867342080340571352, -0.00074070253416626697512, -0.0060336708714301490533,
     0.24015818242558961693, 1.6536545626831027356),
    (2.2137376921775787049e-09, 9.0756561938885390979e-08, -2.7517406297064545428e-07,
     1.8239629214389227755e-08, 1.5027403968909827627e-06, -4.013867526981545969e-06,
     2.9234449089955446044e-06, 1.2475304481671778723e-05, -4.7318229009055733981e-05,
     6.8284851459573175448e-05, 2.4031110387097893999e-05, -0.0003550375203628474796,
     0.00095328937973738049703, -0.0016882755560235047313, 0.0024914420961078508066,
     -0.0037512085075692412107, 0.005370914553590063617, 1.0052589676941592334,
     3.0838856104922207635),
    (-2.7109920616438573243e-11, -2.5556418169965252055e-10, 1.5076572693500548083e-09,
     -3.7894654401267369937e-09, 7.6157012080783393804e-09, -1.4960026627149240478e-08,
     2.9147953450901080826e-08, -6.7711997758452339498e-08, 2.2900482228026654717e-07,
     -9.9298272942317002539e-07, 4.5260625972231537039e-06, -1.9681778105531670567e-05,
     7.5995277030017761139e-05, -0.00021503011930044477347, -0.00013871931833623122026,
     1.0103004648645343977, 4.8499064014085844221),
)  # fmt: skip
_ERFCX = (
    -2.8e-17, 1.21e-16, -9.4e-17, -1.523e-15, 7.106e-15, 3.81e-16, -1.12708e-13, 3.13092e-13,
    8.94487e-13, -6.886027e-12, 2.394038e-12, 9.6467911e-11, -2.27365122e-10, -9.91364156e-10,
    5.059343495e-9, 6.529054439e-9, -8.5238095915e-8, 1.5626441722e-8, 1.303655835580e-6,
    -1.624290004647e-6, -2.0278578112534e-5, 4.2523324806907e-5, 3.66839497852761e-4,
    -9.46595344482036e-4, -9.561514786808631e-3, 1.9476473204185836e-2, 6.4196979235649026e-1,
    -1.3026537197817094,
)  # fmt: skip


@FAMILY.decomposes(
    "aten::erfinv",
    method="Giles (2012), polynomials in log(1 - x²), single and double precision",
    accuracy="3e-7 (float32), 1e-14 (float64)",
)
@in_single_precision
def erfinv(x: Tensor) -> Tensor:
    w = -torch.log((1 - x) * (1 + x))
    if x.dtype == torch.float64:
        middle, tail, far = _ERFINV_64
        root = torch.sqrt(w)
        factor = torch.where(
            w < 6.25,
            polynomial(w - 3.125, middle),
            torch.where(w < 16, polynomial(root - 3.25, tail), polynomial(root - 5, far)),
        )
    else:
        centre, outer = _ERFINV_32
        factor = torch.where(
            w < 5,
            polynomial(w - 2.5, centre),
            polynomial(torch.sqrt(w) - 3, outer),
        )
    return torch.where(x.abs() == 1, x * infinite(x), factor * x)


@FAMILY.decomposes(
    "aten::special_erfcx",
    defect="exp(x²) overflows: NaN for large x",
    method="Chebyshev series in 2 / (2 + |x|) (Press et al., Numerical Recipes, 6.2.2)",
    accuracy="3e-7 (float32), 1e-14 (float64)",
)
@in_single_precision
def special_erfcx(x: Tensor) -> Tensor:
    size = x.abs()
    t = 2 / (2 + size)
    positive = t * torch.exp(chebyshev(4 * t - 2, _ERFCX))
    return torch.where(x < 0, 2 * torch.exp(x * x) - positive, positive)


@FAMILY.decomposes(
    "aten::erfc",
    defect="1 - erf(x) has few digits where erfc(x) is small; onnxruntime has no Erf of float64",
    report="https://github.com/microsoft/onnxruntime/issues/26736",
    method="exp(-x²) erfcx(|x|), from 2 below 0; x² is exact for |x| rounded down to a sixteenth",
    accuracy="4e-7 (float32), 1e-14 (float64)",
)
@in_single_precision
def erfc(x: Tensor) -> Tensor:
    size = torch.minimum(x.abs(), torch.full_like(x, 30.0))
    near = torch.floor(size * 16) / 16
    exponential = torch.exp(-near * near) * torch.exp((near - size) * (near + size))
    tail = exponential * special_erfcx(size)
    return torch.where(x < 0, 2 - tail, tail)


@FAMILY.decomposes(
    "aten::special_log_ndtr",
    defect="NaN for very negative x",
    method="log(erfcx(-x/√2) / 2) - x²/2 below -1, log1p(-erfc(x/√2) / 2) above",
    accuracy="3e-7 (float32)",
)
@in_single_precision
def special_log_ndtr(x: Tensor) -> Tensor:
    t = x * math.sqrt(0.5)
    low = t.clamp(max=0.0)
    return torch.where(
        x < -1,
        torch.log(special_erfcx(-low) / 2) - low * low,
        torch.log1p(-torch.erfc(t) / 2),
    )


@FAMILY.decomposes(
    "aten::special_ndtri",
    method="Cephes ndtri: rational approximations about 1/2 and in the tails",
    accuracy="3e-7 (float32), 1e-14 (float64)",
)
@in_single_precision
def special_ndtri(p: Tensor) -> Tensor:
    edge = math.exp(-2)
    y = torch.where(p > 1 - edge, 1 - p, p)
    centred = p - 0.5
    square = centred * centred
    middle = centred + centred * square * polynomial(square, cephes.NDTRI_P0) / polynomial(
        square, cephes.NDTRI_Q0
    )
    x = torch.sqrt(-2 * torch.log(torch.where(y > edge, torch.full_like(y, edge), y)))
    z = 1 / x
    near = polynomial(z, cephes.NDTRI_P1) / polynomial(z, cephes.NDTRI_Q1)
    far = polynomial(z, cephes.NDTRI_P2) / polynomial(z, cephes.NDTRI_Q2)
    tail = x - torch.log(x) / x - z * torch.where(x < 8, near, far)
    result = torch.where(
        y > edge, middle * math.sqrt(2 * math.pi), torch.where(p > 1 - edge, tail, -tail)
    )
    result = torch.where(p == 0, infinite(p, -1), torch.where(p == 1, infinite(p), result))
    return torch.where((p < 0) | (p > 1), undefined(p), result)


FAMILY.composites |= {"aten::special_erfinv"}
