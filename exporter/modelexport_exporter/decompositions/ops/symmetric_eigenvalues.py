"""Eigenvalues of small symmetric matrices, and singular values.

Jacobi's rotations, n/2 of them at once (Brent and Luk, 1985), unrolled for a number of sweeps, in
float64. Their vectors are for what does not depend on a vector's sign: LAPACK has its own.
"""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn.functional import pad

from modelexport_exporter.decompositions.ops.arithmetic import constants
from modelexport_exporter.decompositions.registry import Family

FAMILY = Family("Eigenvalues and singular values", __doc__)

LARGEST = 16
"""Rows of a matrix whose rotations are unrolled: 9 sweeps of 15 rounds of about thirty nodes."""
_METHOD = "parallel Jacobi rotations, unrolled, in float64"


def rotates(rows: object) -> bool:
    """Return whether a symmetric matrix of so many rows is rotated."""
    return isinstance(rows, int) and 0 < rows <= LARGEST


def eigenvalues(a: Tensor) -> tuple[Tensor, Tensor]:
    """Return the eigenvalues of symmetric float64 matrices, in no order, and vectors as columns."""
    n = a.shape[-1]
    basis = torch.eye(n, dtype=a.dtype, device=a.device)
    if n == 1:
        return a[..., 0], basis.expand(a.shape)
    half = (n + 1) // 2
    if n % 2:
        # One more eigenvalue, 0, that no rotation mixes with the others.
        a, basis = pad(a, (0, 1, 0, 1)), pad(basis, (0, 1))
    order = constants(_turn(half), a.device, torch.int64)
    # Each round is the next of a tournament's: after all of them, places are the first again.
    for _ in range(_sweeps(n) * (2 * half - 1)):
        cosine, sine = _rotation(a, half)
        a = _rotated(_rotated(a, cosine, sine).mT, cosine, sine)
        basis = _rotated(basis.mT, cosine, sine).mT
        a = a.index_select(-2, order).index_select(-1, order)
        basis = basis.index_select(-1, order)
    return a.diagonal(dim1=-2, dim2=-1)[..., :n], basis[..., :n]


def _sweeps(rows: int) -> int:
    """Return one sweep more than 2,000 random matrices of each size needed for 1e-14."""
    return 1 if rows == 2 else (rows + 2) // 4 + 5


def _turn(half: int) -> list[int]:
    """Return the next round of a tournament: the first stays, the others move around the table."""
    if half == 1:
        return [0, 1]
    return [0, half, *range(1, half - 1), *range(half + 1, 2 * half), half - 1]


def _rotation(a: Tensor, half: int) -> tuple[Tensor, Tensor]:
    """Return cosine and sine, [..., half, 1], of the angles that make a[k, half + k] zero."""
    diagonal = a.diagonal(dim1=-2, dim2=-1)
    beside = a[..., :half, half:].diagonal(dim1=-2, dim2=-1)
    gap = (diagonal[..., half:] - diagonal[..., :half]) / 2
    length = torch.sqrt(gap * gap + beside * beside)
    divisor = gap + torch.where(gap < 0, -length, length)
    tangent = torch.where(divisor == 0, 0.0, beside / torch.where(divisor == 0, 1.0, divisor))
    cosine = 1 / torch.sqrt(1 + tangent * tangent)
    return cosine.unsqueeze(-1), (tangent * cosine).unsqueeze(-1)


def _rotated(a: Tensor, cosine: Tensor, sine: Tensor) -> Tensor:
    """Return the rows of both halves, rotated."""
    half = cosine.shape[-2]
    upper, lower = a[..., :half, :], a[..., half:, :]
    return torch.cat([cosine * upper - sine * lower, sine * upper + cosine * lower], -2)


def symmetric(a: Tensor, upper: bool) -> Tensor:
    """Return the float64 matrix of which only one triangle is read."""
    wide = (a.mT if upper else a).to(torch.float64)
    return wide.tril() + wide.tril(-1).mT


def both_ways(a: Tensor) -> Tensor:
    """Return [[0, A], [Aᵀ, 0]] in float64: its eigenvalues are ± the singular values of A."""
    rows, columns = a.shape[-2], a.shape[-1]
    wide = a.to(torch.float64)
    return torch.cat([pad(wide, (rows, 0)), pad(wide.mT, (0, columns))], -2)


def _can_rotate(a: Tensor, *_: object, **__: object) -> bool:
    return a.dtype.is_floating_point and rotates(a.shape[-1])


def _values_of_one_triangle(a: Tensor, _: str = "L", compute_v: bool = True) -> bool:
    return not compute_v and _can_rotate(a)


@FAMILY.decomposes("aten::linalg_eigvalsh", method=_METHOD, applies=_can_rotate)
def linalg_eigvalsh(a: Tensor, uplo: str = "L") -> Tensor:
    values, _ = eigenvalues(symmetric(a, uplo.upper() == "U"))
    return torch.sort(values)[0].to(a.dtype)


@FAMILY.decomposes("aten::_linalg_eigh", method=_METHOD, applies=_values_of_one_triangle)
def _linalg_eigh(a: Tensor, uplo: str = "L", compute_v: bool = True) -> tuple[Tensor, Tensor]:
    return linalg_eigvalsh(a, uplo), a.new_empty(0)


def has_singular_values(a: Tensor, *_: object, **__: object) -> bool:
    """Return whether `singular_values` takes the matrix."""
    rows, columns = a.shape[-2:]
    if not a.dtype.is_floating_point or not isinstance(rows, int) or not isinstance(columns, int):
        return False
    fewer = min(rows, columns)
    return rotates(rows + columns if fewer and a.dtype is torch.float64 else fewer)


def singular_values(a: Tensor) -> Tensor:
    """Return the singular values, the largest first, in float64.

    Squares of float32 keep 1e-8 of the largest value; float64 has none to spare.
    """
    rows, columns = a.shape[-2:]
    count = min(rows, columns)
    if a.dtype is torch.float64:
        values, _ = eigenvalues(both_ways(a))
        largest = torch.sort(values, descending=True)[0][..., :count]
        return largest.clamp(min=0.0)
    wide = a.to(torch.float64)
    values, _ = eigenvalues(wide @ wide.mT if rows < columns else wide.mT @ wide)
    return torch.sqrt(torch.sort(values, descending=True)[0].clamp(min=0.0))


def _values_alone(
    a: Tensor, full_matrices: bool = False, compute_uv: bool = True, **_: object
) -> bool:
    return not compute_uv and has_singular_values(a)


@FAMILY.decomposes("aten::linalg_svdvals", method=_METHOD, applies=has_singular_values)
def linalg_svdvals(a: Tensor, *, driver: str | None = None) -> Tensor:
    return singular_values(a).to(a.dtype)


@FAMILY.decomposes("aten::_linalg_svd", method=_METHOD, applies=_values_alone)
def _linalg_svd(
    a: Tensor, full_matrices: bool = False, compute_uv: bool = True, *, driver: str | None = None
) -> tuple[Tensor, Tensor, Tensor]:
    return a.new_empty(0), singular_values(a).to(a.dtype), a.new_empty(0)


FAMILY.composites |= {
    "aten::linalg_cond",
    "aten::linalg_cond.p_str",
    "aten::linalg_matrix_norm",
    "aten::linalg_matrix_norm.str_ord",
    "aten::nuclear_norm",
    "aten::nuclear_norm.dim",
    *(
        f"aten::linalg_matrix_rank{overload}"
        for overload in ("", ".atol_rtol_float", ".atol_rtol_tensor", ".tol_tensor")
    ),
}
