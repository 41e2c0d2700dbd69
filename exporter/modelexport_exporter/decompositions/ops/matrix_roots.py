"""The square root and the polar factors of matrices, by iterations of matrix products."""

from __future__ import annotations

import torch
from torch import Tensor

from modelexport_exporter.decompositions.ops.linalg import identity, is_real
from modelexport_exporter.decompositions.registry import Family

FAMILY = Family("Roots of matrices", __doc__)

_STEPS = 50
"""An error of 1 / condition grows by 1.5 a step, then squares: conditions up to 1e6."""
_METHOD = f"{_STEPS} steps of Newton and Schulz' iteration, in float64"
_ACCURACY = "1e-6 (float32), up to a condition of 1e6"


def _norm(a: Tensor) -> Tensor:
    """Return Frobenius' norm, at least the largest singular value; 1 of zeros."""
    norm = (a * a).sum((-2, -1), keepdim=True).sqrt()
    return torch.where(norm == 0, torch.ones_like(norm), norm)


@FAMILY.decomposes("aten::linalg_matrix_sqrth", method=_METHOD, accuracy=_ACCURACY, applies=is_real)
def linalg_matrix_sqrth(a: Tensor) -> Tensor:
    """Return the root of a symmetric matrix: Higham, Functions of Matrices (2008), 6.35."""
    wide = a.to(torch.float64)
    norm, unit = _norm(wide), identity(a)
    root, inverse = wide / norm, unit.expand(a.shape)
    for _ in range(_STEPS):
        step = 1.5 * unit - 0.5 * (inverse @ root)
        root, inverse = root @ step, step @ inverse
    return (root * norm.sqrt()).to(a.dtype)


@FAMILY.decomposes("aten::linalg_polar", method=_METHOD, accuracy=_ACCURACY, applies=is_real)
def linalg_polar(a: Tensor) -> tuple[Tensor, Tensor]:
    """Return both factors: Higham, Functions of Matrices (2008), 8.20."""
    wide = a.to(torch.float64)
    unitary, unit = wide / _norm(wide), identity(a)
    for _ in range(_STEPS):
        unitary = unitary @ (1.5 * unit - 0.5 * (unitary.mT @ unitary))
    positive = unitary.mT @ wide
    return unitary.to(a.dtype), (0.5 * (positive + positive.mT)).to(a.dtype)
