"""exp(x) - 1 and log(1 + x) where x is small, logarithms of powers of their base."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from modelexport_exporter.decompositions.ops.arithmetic import in_single_precision
from modelexport_exporter.decompositions.registry import Family

FAMILY = Family("Exponentials", __doc__)


MEAN, SUM = 1, 2
"""How ATen numbers the reductions of losses; 0 is none."""


def _is_real(x: Tensor, *_: object) -> bool:
    return not x.dtype.is_complex


@FAMILY.decomposes(
    "aten::expm1",
    defect="exp(x) - 1 has no correct digits near 0",
    method="2 tanh(x/2) / (1 - tanh(x/2)) on (-1, 1)",
    accuracy="5e-7 of each element (float32)",
    applies=_is_real,
)
@in_single_precision
def expm1(x: Tensor) -> Tensor:
    half = torch.tanh(x / 2)
    return torch.where(x.abs() < 1, 2 * half / (1 - half), torch.exp(x) - 1)


@FAMILY.decomposes(
    "aten::log1p",
    defect="log(1 + x) has no correct digits near 0",
    method="log(u) · x / (u - 1), u being 1 + x as rounded",
    accuracy="5e-7 of each element (float32)",
    applies=_is_real,
)
@in_single_precision
def log1p(x: Tensor) -> Tensor:
    rounded = 1 + x
    log = torch.log(rounded)
    unchanged = rounded == 1
    step = torch.where(unchanged, torch.ones_like(x), rounded - 1)
    return torch.where(unchanged, x, torch.where(x > 1, log, log * (x / step)))


def _logarithm(x: Tensor, base: float) -> Tensor:
    y = torch.log(x) / math.log(base)
    whole = torch.round(y)
    return torch.where(torch.pow(base, whole) == x, whole, y)


@FAMILY.decomposes(
    "aten::log2",
    defect="log(x) / log(2) is below 3 at 8: a floor of it is another number",
    method="the nearest integer n where 2^n is x, else log(x) / log(2)",
    applies=_is_real,
)
@in_single_precision
def log2(x: Tensor) -> Tensor:
    return _logarithm(x, 2.0)


@FAMILY.decomposes(
    "aten::log10",
    defect="log(x) / log(10) of float64 is below 3 at 1000: a floor of it is another number",
    method="the nearest integer n where 10^n is x, else log(x) / log(10)",
    applies=_is_real,
)
@in_single_precision
def log10(x: Tensor) -> Tensor:
    return _logarithm(x, 10.0)


@FAMILY.decomposes(
    "aten::special_xlog1py",
    defect="torch's own definition takes log(1 + y), which has no correct digits near 0",
    method="x · log1p(y), 0 where x is 0 and y is not NaN",
    accuracy="5e-7 of each element (float32)",
    applies=_is_real,
)
@in_single_precision
def xlog1py(x: Tensor, y: Tensor) -> Tensor:
    product = torch.where(x == 0, torch.zeros_like(x), x * log1p(y))
    return torch.where(torch.isnan(y), y, product)


@FAMILY.decomposes(
    "aten::soft_margin_loss",
    defect="torch's own definition takes log(1 + exp(-x · y)), which is 0 for large x · y",
    method="log1p(exp(-x · y)), reduced as asked",
    accuracy="5e-7 of each element (float32)",
    applies=_is_real,
)
@in_single_precision
def soft_margin_loss(x: Tensor, target: Tensor, reduction: int = 1) -> Tensor:
    loss = log1p(torch.exp(-x * target))
    if reduction == MEAN:
        return loss.mean()
    return loss.sum() if reduction == SUM else loss


FAMILY.composites |= {"aten::special_expm1", "aten::special_log1p"}
