"""Factorizations in LAPACK's packed forms: L and U in one matrix, reflections below R."""

from __future__ import annotations

import torch
from torch import Tensor

from modelexport_exporter.decompositions.ops.factorizations import (
    packed_lu,
    packed_qr,
    permutation,
    reflect,
    swap,
    unpack,
    unrolls_square,
)
from modelexport_exporter.decompositions.ops.linalg import triangular_inverse
from modelexport_exporter.decompositions.registry import Family

FAMILY = Family("Packed factorizations", __doc__)

_LU = "Gaussian elimination with partial pivoting, unrolled, in float64"
_SOLVE = "inverses of both triangles, in float64"
_REFLECTIONS = "Householder's reflections, unrolled, in float64"


def _unrolls_factors(_: Tensor, a: Tensor, *__: object, **___: object) -> bool:
    return unrolls_square(a)


def _unrolls_and_pivots(a: Tensor, *, pivot: bool = True, **_: object) -> bool:
    return pivot and unrolls_square(a)


@FAMILY.decomposes("aten::linalg_lu_factor_ex", method=_LU, applies=_unrolls_and_pivots)
def linalg_lu_factor_ex(
    a: Tensor, *, pivot: bool = True, check_errors: bool = False
) -> tuple[Tensor, Tensor, Tensor]:
    packed, _, pivots = packed_lu(a)
    zero = packed.diagonal(dim1=-2, dim2=-1) == 0
    first = torch.argmax(zero.to(torch.int64), -1) + 1
    info = torch.where(zero.any(-1), first, 0).to(torch.int32)
    return packed.to(a.dtype), pivots, info


@FAMILY.decomposes(
    "aten::linalg_lu_factor", method="as linalg_lu_factor_ex", applies=_unrolls_and_pivots
)
def linalg_lu_factor(a: Tensor, *, pivot: bool = True) -> tuple[Tensor, Tensor]:
    return linalg_lu_factor_ex(a)[:2]


def _order(pivots: Tensor, rows: int) -> Tensor:
    """Return the order of rows that LAPACK's pivots make of 0, 1, …."""
    i = torch.arange(rows, device=pivots.device)
    order = i.expand(*pivots.shape[:-1], rows)
    for k in range(pivots.shape[-1]):
        order = order.gather(-1, swap(i, k, pivots[..., k : k + 1].to(torch.int64) - 1))
    return order


@FAMILY.decomposes(
    "aten::lu_unpack",
    method="triangles, and the pivots' exchanges one by one",
    applies=unrolls_square,
)
def lu_unpack(
    packed: Tensor, pivots: Tensor, unpack_data: bool = True, unpack_pivots: bool = True
) -> tuple[Tensor, Tensor, Tensor]:
    nothing = packed.new_empty(0)
    lower, upper = unpack(packed) if unpack_data else (nothing, nothing)
    if not unpack_pivots:
        return nothing, lower, upper
    return permutation(_order(pivots, packed.shape[-2]), packed.dtype), lower, upper


@FAMILY.decomposes("aten::linalg_lu_solve", method=_SOLVE, applies=unrolls_square)
def linalg_lu_solve(
    packed: Tensor, pivots: Tensor, b: Tensor, *, left: bool = True, adjoint: bool = False
) -> Tensor:
    lower, upper = unpack(packed.to(torch.float64))
    order = permutation(_order(pivots, packed.shape[-2]), torch.float64)
    inverse = triangular_inverse(upper) @ (triangular_inverse(lower) @ order.mT)
    inverse = inverse.mT if adjoint else inverse
    wide = b.to(torch.float64)
    return (inverse @ wide if left else wide @ inverse).to(b.dtype)


@FAMILY.decomposes("aten::lu_solve", method=_SOLVE, applies=_unrolls_factors)
def lu_solve(b: Tensor, packed: Tensor, pivots: Tensor) -> Tensor:
    return linalg_lu_solve(packed, pivots, b)


@FAMILY.decomposes("aten::geqrf", method=_REFLECTIONS, applies=unrolls_square)
def geqrf(a: Tensor) -> tuple[Tensor, Tensor]:
    packed, factors = packed_qr(a)
    return packed.to(a.dtype), factors.to(a.dtype)


@FAMILY.decomposes(
    "aten::linalg_householder_product", "aten::orgqr", method=_REFLECTIONS, applies=unrolls_square
)
def linalg_householder_product(packed: Tensor, factors: Tensor) -> Tensor:
    unit = torch.eye(
        packed.shape[-2], packed.shape[-1], dtype=torch.float64, device=packed.device
    ).expand(packed.shape)
    return reflect(packed.to(torch.float64), factors.to(torch.float64), unit).to(packed.dtype)


@FAMILY.decomposes("aten::ormqr", method=_REFLECTIONS, applies=unrolls_square)
def ormqr(
    packed: Tensor, factors: Tensor, x: Tensor, left: bool = True, transpose: bool = False
) -> Tensor:
    wide, own = packed.to(torch.float64), factors.to(torch.float64)
    value = x.to(torch.float64)
    if left:
        return reflect(wide, own, value, transposed=transpose).to(x.dtype)
    return reflect(wide, own, value.mT, transposed=not transpose).mT.to(x.dtype)
