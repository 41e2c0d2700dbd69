"""Pseudo-inverses.

A small matrix by the eigenvectors of [[0, A], [Aᵀ, 0]] (of AᵀA where that is too large), those of
values below the tolerance left out; a larger one, or one of a dynamic size, by Newton's iteration.
"""

from __future__ import annotations

import torch
from torch import Tensor

from modelexport_exporter.decompositions.ops.linalg import is_real, newton_inverse
from modelexport_exporter.decompositions.ops.symmetric_eigenvalues import (
    both_ways,
    eigenvalues,
    rotates,
    symmetric,
)
from modelexport_exporter.decompositions.registry import Family
from modelexport_exporter.decompositions.sizes import largest, smallest

FAMILY = Family("Pseudo-inverses", __doc__)

Tolerance = float | Tensor | None
_METHOD = "eigenvectors; Newton's iteration, for full rank, above 16 rows and columns"
_ACCURACY = "Newton's iteration: up to a condition of 1e6, tolerances have no effect"


def limit(a: Tensor, size: Tensor, absolute: Tolerance, relative: Tolerance) -> Tensor:
    """Return the value, [..., 1], up to which a singular value is 0, by torch's rules.

    `size` has the singular values.
    """
    usual = torch.finfo(a.dtype).eps * max(a.shape[-2:])

    def column(value: float | Tensor) -> Tensor:
        if not isinstance(value, Tensor):
            return torch.full((1,), value, dtype=torch.float64, device=a.device)
        return value.to(torch.float64).unsqueeze(-1)

    floor = column(0.0 if absolute is None else absolute)
    share = torch.where(floor > 0, 0.0, column(usual)) if relative is None else column(relative)
    return torch.maximum(floor, share * size.amax(-1, keepdim=True))


def _of_symmetric(a: Tensor, wide: Tensor, absolute: Tolerance, relative: Tolerance) -> Tensor:
    """Return the pseudo-inverse of the symmetric matrix, whose tolerance follows from `a`."""
    values, vectors = eigenvalues(wide)
    size = values.abs()
    return _inverted(values, vectors, size > limit(a, size, absolute, relative))


def _inverted(values: Tensor, vectors: Tensor, kept: Tensor) -> Tensor:
    inverse = torch.where(kept, 1 / torch.where(kept, values, 1.0), 0.0)
    return (vectors * inverse.unsqueeze(-2)) @ vectors.mT


def _by_squares(a: Tensor, absolute: Tolerance, relative: Tolerance) -> Tensor:
    """Return the pseudo-inverse (AᵀA)⁺Aᵀ of a float32 matrix of more rows than columns."""
    wide = a.to(torch.float64)
    values, vectors = eigenvalues(wide.mT @ wide)
    size = torch.sqrt(values.clamp(min=0.0))
    return _inverted(values, vectors, size > limit(a, size, absolute, relative)) @ wide.mT


def pseudo_inverse(a: Tensor, absolute: Tolerance, relative: Tolerance, hermitian: bool) -> Tensor:
    rows, columns = a.shape[-2], a.shape[-1]
    if hermitian and rotates(rows):
        return _of_symmetric(a, symmetric(a, upper=False), absolute, relative)
    if isinstance(rows, int) and isinstance(columns, int) and rotates(rows + columns):
        return _of_symmetric(a, both_ways(a), absolute, relative)[..., rows:, :rows]
    if a.dtype is not torch.float64 and rotates(columns) and largest(columns) <= smallest(rows):
        return _by_squares(a, absolute, relative)
    if a.dtype is not torch.float64 and rotates(rows):
        return _by_squares(a.mT, absolute, relative).mT
    return newton_inverse(a)


@FAMILY.decomposes(
    "aten::linalg_pinv.atol_rtol_tensor",
    "aten::linalg_pinv.atol_rtol_float",
    method=_METHOD,
    accuracy=_ACCURACY,
    applies=is_real,
)
def linalg_pinv(
    a: Tensor, *, atol: Tolerance = None, rtol: Tolerance = None, hermitian: bool = False
) -> Tensor:
    return pseudo_inverse(a, atol, rtol, hermitian).to(a.dtype)


@FAMILY.decomposes(
    "aten::linalg_pinv",
    "aten::linalg_pinv.rcond_tensor",
    method=_METHOD,
    accuracy=_ACCURACY,
    applies=is_real,
)
def linalg_pinv_of_share(a: Tensor, rcond: float | Tensor, hermitian: bool = False) -> Tensor:
    return pseudo_inverse(a, 0.0, rcond, hermitian).to(a.dtype)


@FAMILY.decomposes("aten::pinverse", method=_METHOD, accuracy=_ACCURACY, applies=is_real)
def pinverse(a: Tensor, rcond: float = 1e-15) -> Tensor:
    return linalg_pinv_of_share(a, rcond)
