"""Factorizations of a matrix of dynamic size, or a large one: loops over its columns, in float64.

Smaller ones are unrolled by `ops/factorizations.py`.
"""

from __future__ import annotations

import torch
from torch import Tensor

from modelexport_exporter.decompositions.capture.registry import Replacements, Result, is_open
from modelexport_exporter.decompositions.ops.factorizations import (
    LARGEST,
    sign_and_logarithm,
    swap,
)
from modelexport_exporter.torch_internals.operators import scan

CALLS = Replacements()


@CALLS.replaces("linalg_cholesky", torch.linalg.cholesky)
def linalg_cholesky(a: Tensor, *, upper: bool = False) -> Result:
    return cholesky(a, upper) if _loops(a) else NotImplemented


@CALLS.replaces("linalg_cholesky_ex", torch.linalg.cholesky_ex)
def linalg_cholesky_ex(a: Tensor, *, upper: bool = False, check_errors: bool = False) -> Result:
    if not _loops(a):
        return NotImplemented
    info = torch.zeros(a.shape[:-2], dtype=torch.int32, device=a.device)
    named = torch.return_types.linalg_cholesky_ex  # type: ignore[attr-defined]
    return named((cholesky(a, upper), info))


@CALLS.replaces("linalg_slogdet", torch.linalg.slogdet, torch.slogdet, Tensor.slogdet)
def linalg_slogdet(a: Tensor) -> Result:
    if not _loops(a):
        return NotImplemented
    pivots, parity = eliminated(a)
    named = torch.return_types.linalg_slogdet  # type: ignore[attr-defined]
    return named(sign_and_logarithm(pivots, parity, a.dtype))


@CALLS.replaces("logdet", torch.logdet, Tensor.logdet)
def logdet(a: Tensor) -> Result:
    if not _loops(a):
        return NotImplemented
    sign, value = linalg_slogdet(a)
    return torch.where(sign < 0, torch.nan, value)


@CALLS.replaces("linalg_det", torch.linalg.det, torch.det, Tensor.det)
def linalg_det(a: Tensor) -> Result:
    if a.dtype is not torch.float64 or not _loops(a):
        return NotImplemented
    pivots, parity = eliminated(a)
    return pivots.prod(-1) * parity


def _loops(a: Tensor) -> bool:
    n = a.shape[-1]
    return a.dtype.is_floating_point and (is_open(n) or n > LARGEST)


def cholesky(a: Tensor, upper: bool) -> Tensor:
    """Return the factor [..., n, n]; NaN if `a` is not positive definite."""
    rest = (a.mT if upper else a).to(torch.float64)
    places = torch.arange(a.shape[-1], device=a.device)
    rows = places[:, None].clone()

    def step(rest: Tensor, k: Tensor) -> tuple[Tensor, Tensor]:
        column = rest.index_select(-1, k[None])
        column = torch.where(rows >= k, column / column.index_select(-2, k[None]).sqrt(), 0.0)
        return rest - column * column.mT, column.squeeze(-1)

    columns: Tensor = scan(step, rest.clone(), places, dim=0)[1]
    lower = columns.movedim(0, -1).to(a.dtype)
    return lower.mT if upper else lower


def eliminated(a: Tensor) -> tuple[Tensor, Tensor]:
    """Return the float64 pivots of Gaussian elimination [..., n], and the parity of its swaps."""
    places = torch.arange(a.shape[-1], device=a.device)
    every = places.clone()

    def step(rest: Tensor, k: Tensor) -> tuple[Tensor, tuple[Tensor, Tensor]]:
        column = rest.index_select(-1, k[None]).squeeze(-1)
        pivot = torch.where(every >= k, column.abs(), -1.0).argmax(-1, keepdim=True)
        order = swap(every, k, pivot)
        rest = rest.gather(-2, order.unsqueeze(-1).expand(rest.shape))
        row = rest.index_select(-2, k[None])
        head = row.index_select(-1, k[None])
        factor = rest.index_select(-1, k[None]) / torch.where(head == 0, 1.0, head)
        rest = rest - torch.where((every > k).unsqueeze(-1), factor, 0.0) * row
        return rest, (head.flatten(-2).squeeze(-1), torch.where(pivot == k, 1.0, -1.0).squeeze(-1))

    heads, signs = scan(step, a.to(torch.float64).clone(), places, dim=0)[1]
    return heads.movedim(0, -1), signs.prod(0).to(torch.float64)
