"""Matrix products plus an addend: beta · addend + alpha · product.

With beta = 0 the addend is ignored, even if it is NaN; onnxruntime has no Gemm of integers, for
which torch drops the fractions of both factors.
"""

from __future__ import annotations

import torch
from torch import Tensor

from modelexport_exporter.decompositions.registry import Family

FAMILY = Family("Matrix products with an addend", __doc__)


def _sum(x: Tensor, product: Tensor, beta: float, alpha: float) -> Tensor:
    if not (x.dtype.is_floating_point or x.dtype.is_complex):
        beta, alpha = int(beta), int(alpha)
    if alpha != 1:
        product = product * alpha
    if beta == 0:
        return product.to(x.dtype)
    return (x if beta == 1 else x * beta) + product


@FAMILY.decomposes(
    "aten::addmv",
    defect="with beta = 0, NaN in the addend reaches the result",
    method="beta · x + alpha · (matrix @ vector)",
    accuracy="3e-7 (float32)",
)
def addmv(x: Tensor, mat: Tensor, vec: Tensor, *, beta: float = 1, alpha: float = 1) -> Tensor:
    # As a column: onnxruntime fuses a transposed matrix, a vector and a factor wrongly.
    product = torch.matmul(mat, vec.unsqueeze(1)).squeeze(1)
    return _sum(x, product, beta, alpha).expand(mat.shape[0])


def _integers(x: Tensor, *_: object, **__: object) -> bool:
    return not x.dtype.is_floating_point


def _integers_or_nothing(
    x: Tensor, *_: object, beta: float = 1, alpha: float = 1, **__: object
) -> bool:
    return beta == 0 or _integers(x)


def _integers_or_factors_that_are_lost(
    x: Tensor, a: Tensor, _: Tensor, *, beta: float = 1, alpha: float = 1
) -> bool:
    if (alpha, beta) == (1, 1):
        return _integers(x)
    inner = a.shape[1]
    may_be_empty = not isinstance(inner, int) or inner == 0
    return _integers(x) or x.dtype is torch.float64 or may_be_empty


@FAMILY.decomposes(
    "aten::addmm",
    defect="onnxruntime has no Gemm of integers; its factors have single precision, and sums "
    "without terms lose beta",
    method="beta · x + alpha · (a @ b), for integers; with factors, for float64 and empty sums",
    applies=_integers_or_factors_that_are_lost,
)
def addmm(x: Tensor, a: Tensor, b: Tensor, *, beta: float = 1, alpha: float = 1) -> Tensor:
    return _sum(x, a @ b, beta, alpha)


def _sums_nothing(x: Tensor, *_: object, **__: object) -> bool:
    width = x.shape[-1]
    return isinstance(width, int) and width == 0


@FAMILY.decomposes(
    "aten::linear",
    defect="onnxruntime does not load a Gemm of no terms",
    method="the bias, or zeros",
    applies=_sums_nothing,
)
def linear(x: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    rows = weight.shape[:1] if weight.dim() == 2 else ()
    result = x.new_zeros([*x.shape[:-1], *rows])
    return result if bias is None else result + bias


@FAMILY.decomposes(
    "aten::baddbmm",
    defect="with beta = 0, NaN in the addend reaches the result",
    method="beta · x + alpha · (a @ b), for integers and for a beta of 0",
    applies=_integers_or_nothing,
)
def baddbmm(x: Tensor, a: Tensor, b: Tensor, *, beta: float = 1, alpha: float = 1) -> Tensor:
    return _sum(x, torch.bmm(a, b), beta, alpha)


@FAMILY.decomposes(
    "aten::addbmm",
    defect="with beta = 0, NaN in the addend reaches the result",
    method="beta · x + alpha · (sum of a @ b over the batch)",
    accuracy="3e-7 (float32)",
)
def addbmm(x: Tensor, a: Tensor, b: Tensor, *, beta: float = 1, alpha: float = 1) -> Tensor:
    return _sum(x, torch.bmm(a, b).sum(0, dtype=x.dtype), beta, alpha)
