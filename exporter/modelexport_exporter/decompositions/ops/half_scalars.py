"""Factors that float16 does not hold: torch computes with them in float32, ONNX in float16.

Sums and differences round the number to float16 first, in torch as in ONNX.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor

from modelexport_exporter.decompositions.registry import Family

FAMILY = Family("Numbers beyond float16", __doc__)

_DEFECT = "1e6 becomes infinite, and 1e-8 zero"
_METHOD = "the same operator in float32, rounded to float16"
_HALF = torch.finfo(torch.float16)


def _beyond_half(x: Tensor, y: object, *_: object, **__: object) -> bool:
    if not isinstance(y, int | float) or isinstance(y, bool) or x.dtype != torch.float16:
        return False
    return math.isfinite(y) and y != 0 and not _HALF.tiny <= abs(y) <= _HALF.max


@FAMILY.decomposes("aten::mul.Tensor", defect=_DEFECT, method=_METHOD, applies=_beyond_half)
def mul(x: Tensor, y: float) -> Tensor:
    return (x.float() * y).half()


@FAMILY.decomposes("aten::div.Tensor", defect=_DEFECT, method=_METHOD, applies=_beyond_half)
def div(x: Tensor, y: float) -> Tensor:
    return (x.float() / y).half()
