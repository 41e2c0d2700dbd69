"""Numbers that half precision does not hold.

torch multiplies and divides by them in float32, and compares with what they are in half precision;
ONNX, as torch.onnx writes it, does the reverse. 0.1 is 0.09998 in float16. Sums and differences
round the number first, in torch as in ONNX.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import torch
from torch import Tensor

from modelexport_exporter.decompositions.dtypes import HALVES
from modelexport_exporter.decompositions.ops.arithmetic import broadcast
from modelexport_exporter.decompositions.registry import Family

FAMILY = Family("Numbers beyond half precision", __doc__)

_HALF: dict[torch.dtype, Callable[[float], Any]] = {
    torch.float16: np.float16,
    torch.bfloat16: ml_dtypes.bfloat16,
}
_DEFECT = "1e6 becomes infinite, 1e-8 zero, and 0.1 another number"
_METHOD = "the same operator in float32, rounded to float16"


def _rounded(x: Tensor, y: float) -> float:
    with np.errstate(over="ignore"):
        return float(_HALF[x.dtype](y))


def _is_between(x: object, y: object, *_: object, **__: object) -> bool:
    """Return whether a number lies between those of the tensor's dtype."""
    if not isinstance(x, Tensor) or not isinstance(y, int | float) or isinstance(y, bool):
        return False
    return x.dtype in HALVES and math.isfinite(y) and _rounded(x, y) != y


def _is_between_float16(x: Tensor, y: object, *_: object, **__: object) -> bool:
    return x.dtype is torch.float16 and _is_between(x, y)


@FAMILY.decomposes("aten::mul.Tensor", defect=_DEFECT, method=_METHOD, applies=_is_between_float16)
def mul(x: Tensor, y: float) -> Tensor:
    return (x.float() * y).half()


@FAMILY.decomposes("aten::div.Tensor", defect=_DEFECT, method=_METHOD, applies=_is_between_float16)
def div(x: Tensor, y: float) -> Tensor:
    return (x.float() / y).half()


def _comparison(name: str, compare: Callable[[Tensor, float], Tensor]) -> None:
    @FAMILY.decomposes(
        f"aten::{name}.Scalar",
        defect="compared in float32: no float16 is equal to 0.1",
        method="the number rounded as the tensor is",
        applies=_is_between,
    )
    def compared(x: Tensor, y: float) -> Tensor:
        return compare(x, _rounded(x, y))


for _name in ("eq", "ne", "lt", "le", "gt", "ge"):
    _comparison(_name, getattr(torch, _name))


def _is_half(x: Tensor, y: Tensor, *_: object, **__: object) -> bool:
    return x.dtype in HALVES or y.dtype in HALVES


@FAMILY.decomposes(
    "aten::cosine_similarity",
    defect="the result is float32, and eps is no zero",
    method="each divided by its norm, which is at least the eps that its dtype has",
    accuracy="exact",
    applies=_is_half,
)
def cosine_similarity(x: Tensor, y: Tensor, dim: int = 1, eps: float = 1e-8) -> Tensor:
    x, y = broadcast(x, y)
    return (_unit(x, dim, eps) * _unit(y, dim, eps)).sum(dim)


def _unit(x: Tensor, dim: int, eps: float) -> Tensor:
    norm: Tensor = torch.linalg.vector_norm(x, 2, dim, keepdim=True)
    return x / norm.clamp_min(_rounded(x, eps) if x.dtype in HALVES else eps)
