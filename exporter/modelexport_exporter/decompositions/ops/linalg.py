"""Inverses, linear systems, determinants and functions of matrices.

Small static matrices are factorized; larger ones, and those of a dynamic size, are computed by
iterations of matrix products. All in float64, for float32 inputs too.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor

from modelexport_exporter.decompositions.ops.factorizations import packed_lu, unrolls
from modelexport_exporter.decompositions.ordered_places import ordered_places
from modelexport_exporter.decompositions.registry import Family
from modelexport_exporter.decompositions.sizes import largest

FAMILY = Family("Linear algebra", __doc__)

_NEWTON_STEPS = 50
"""Newton's iteration needs about 2 log2(condition) + log2(n) steps: conditions up to 1e6."""
_TAYLOR_TERMS = 18
_SQUARINGS = 16

_INVERSE = (
    "Gaussian elimination up to 32 x 32; otherwise 50 steps of Newton's iteration, in float64"
)
_INVERSE_ACCURACY = "eager's own; Newton's iteration up to a condition of 1e6"
_DOUBLING = "product of (I + N^(2^k)), N the nilpotent part, in float64"


def is_real(a: Tensor, *_: object, **__: object) -> bool:
    """Return whether the elements are real floating-point numbers."""
    return a.dtype.is_floating_point


def identity(a: Tensor) -> Tensor:
    """Return the float64 identity of as many columns."""
    return torch.eye(a.shape[-1], dtype=torch.float64, device=a.device)


def newton_inverse(a: Tensor, steps: int = _NEWTON_STEPS) -> Tensor:
    """Return the inverse (or, of a rectangular matrix, the pseudo-inverse) in float64."""
    a = a.to(torch.float64)
    size = a.abs().sum(-1).amax(-1) * a.abs().sum(-2).amax(-1)
    x = a.mT / torch.where(size == 0, 1.0, size)[..., None, None]
    for _ in range(steps):
        x = 2 * x - x @ (a @ x)
    return x


def triangular_inverse(a: Tensor) -> Tensor:
    """Return the inverse of a triangular float64 matrix."""
    diagonal = a.diagonal(dim1=-2, dim2=-1)
    scaled = a / diagonal.unsqueeze(-1)
    power = identity(a) - scaled
    inverse = identity(a) + power
    for _ in range(max(largest(a.shape[-1]) - 1, 0).bit_length() - 1):
        power = power @ power
        inverse = inverse + inverse @ power
    return inverse / diagonal.unsqueeze(-2)


def solve_double(a: Tensor, b: Tensor) -> Tensor:
    """Return the solution of a x = b in float64; b is a matrix."""
    b = b.to(torch.float64)
    if not unrolls(a):
        return newton_inverse(a) @ b
    packed, order, _ = packed_lu(a)
    batch = torch.broadcast_shapes(  # type: ignore[no-untyped-call]
        a.shape[:-2], b.shape[:-2]
    )
    b = b.expand(*batch, *b.shape[-2:])
    index = order.expand(*batch, order.shape[-1]).unsqueeze(-1).expand(b.shape)
    lower = packed.tril(-1) + identity(a)
    return triangular_inverse(packed.triu()) @ (triangular_inverse(lower) @ b.gather(-2, index))


def _inverse(a: Tensor) -> Tensor:
    if type(a.shape[-1]) is int and a.shape[-1] == 0:
        return a.clone()
    return solve_double(a, identity(a).expand(a.shape)).to(a.dtype)


@FAMILY.decomposes(
    "aten::linalg_inv",
    "aten::inverse",
    method=_INVERSE,
    accuracy=_INVERSE_ACCURACY,
    applies=is_real,
)
def linalg_inv(a: Tensor) -> Tensor:
    return _inverse(a)


@FAMILY.decomposes(
    "aten::linalg_inv_ex", method=_INVERSE, accuracy=_INVERSE_ACCURACY, applies=is_real
)
def linalg_inv_ex(a: Tensor, *, check_errors: bool = False) -> tuple[Tensor, Tensor]:
    return _inverse(a), torch.zeros(a.shape[:-2], dtype=torch.int32, device=a.device)


@FAMILY.decomposes(
    "aten::linalg_tensorinv",
    defect="torch.onnx does not translate the check for errors in torch's definition",
    method="linalg_inv of the matrix",
    accuracy=_INVERSE_ACCURACY,
    applies=is_real,
)
def linalg_tensorinv(a: Tensor, ind: int = 2) -> Tensor:
    rows, columns = a.shape[:ind], a.shape[ind:]
    size = math.prod(columns)
    return _inverse(a.reshape(size, size)).reshape([*columns, *rows])


def is_vector(a: Tensor, b: Tensor) -> bool:
    """Return whether the right side has one column of each system, without a dim for it."""
    return b.dim() == 1 or (b.dim() == a.dim() - 1 and b.shape == a.shape[:-1])


def _solve(a: Tensor, b: Tensor, *, left: bool) -> Tensor:
    if left and is_vector(a, b):
        return solve_double(a, b.unsqueeze(-1)).squeeze(-1).to(a.dtype)
    if not left:
        return solve_double(a.mT, b.mT).mT.to(a.dtype)
    return solve_double(a, b).to(a.dtype)


@FAMILY.decomposes(
    "aten::linalg_solve", method=_INVERSE, accuracy=_INVERSE_ACCURACY, applies=is_real
)
def linalg_solve(a: Tensor, b: Tensor, *, left: bool = True) -> Tensor:
    return _solve(a, b, left=left)


@FAMILY.decomposes(
    "aten::linalg_solve_ex", method=_INVERSE, accuracy=_INVERSE_ACCURACY, applies=is_real
)
def linalg_solve_ex(
    a: Tensor,
    b: Tensor,
    *,
    left: bool = True,
    check_errors: bool = False,
) -> tuple[Tensor, Tensor]:
    info = torch.zeros(a.shape[:-2], dtype=torch.int32, device=a.device)
    return _solve(a, b, left=left), info


@FAMILY.decomposes("aten::linalg_solve_triangular", method=_DOUBLING, applies=is_real)
def linalg_solve_triangular(
    a: Tensor, b: Tensor, *, upper: bool, left: bool = True, unitriangular: bool = False
) -> Tensor:
    triangle = (a.triu() if upper else a.tril()).to(torch.float64)
    if unitriangular:
        triangle = (triangle.triu(1) if upper else triangle.tril(-1)) + identity(a)
    inverse = triangular_inverse(triangle)
    wide = b.to(torch.float64)
    return (inverse @ wide if left else wide @ inverse).to(a.dtype)


@FAMILY.decomposes("aten::triangular_solve", method=_DOUBLING, applies=is_real)
def triangular_solve(
    b: Tensor,
    a: Tensor,
    upper: bool = True,
    transpose: bool = False,
    unitriangular: bool = False,
) -> tuple[Tensor, Tensor]:
    matrix, above = (a.mT, not upper) if transpose else (a, upper)
    solution = linalg_solve_triangular(matrix, b, upper=above, unitriangular=unitriangular)
    return solution, a.clone()


@FAMILY.decomposes("aten::cholesky_solve", method="two triangular solves", applies=is_real)
def cholesky_solve(b: Tensor, factor: Tensor, upper: bool = False) -> Tensor:
    lower = (factor.mT.tril() if upper else factor.tril()).to(torch.float64)
    inverse = triangular_inverse(lower)
    return (inverse.mT @ (inverse @ b.to(torch.float64))).to(b.dtype)


@FAMILY.decomposes("aten::cholesky_inverse", method="two triangular solves", applies=is_real)
def cholesky_inverse(factor: Tensor, upper: bool = False) -> Tensor:
    return cholesky_solve(identity(factor).to(factor.dtype).expand(factor.shape), factor, upper)


@FAMILY.decomposes(
    "aten::linalg_matrix_power",
    "aten::matrix_power",
    defect="torch.onnx cannot translate the inverse for negative powers",
    method="repeated squaring; the identity for 0, powers of the inverse below",
)
def linalg_matrix_power(a: Tensor, n: int) -> Tensor:
    if n == 0:
        return torch.eye(a.shape[-1], dtype=a.dtype, device=a.device).expand(a.shape).clone()
    base = _inverse(a) if n < 0 else a
    result: Tensor | None = None
    for bit in reversed(f"{abs(n):b}"):
        if bit == "1":
            result = base if result is None else result @ base
        base = base @ base
    assert result is not None
    return result


@FAMILY.decomposes(
    "aten::linalg_matrix_exp",
    "aten::matrix_exp",
    method="scaling and squaring about 18 terms of the Taylor series, in float64",
    accuracy="1e-12 for norms up to 65536",
    applies=is_real,
)
def linalg_matrix_exp(a: Tensor) -> Tensor:
    wide = a.to(torch.float64)
    norm = wide.abs().sum(-2).amax(-1)
    halvings = torch.ceil(torch.log2(norm.clamp(min=1.0))).clamp(max=_SQUARINGS)[..., None, None]
    scaled = wide * torch.exp2(-halvings)
    result = identity(a) + scaled / _TAYLOR_TERMS
    for k in range(_TAYLOR_TERMS - 1, 0, -1):
        result = identity(a) + scaled @ result / k
    for k in range(_SQUARINGS):
        result = torch.where(halvings > k, result @ result, result)
    return result.to(a.dtype)


@FAMILY.decomposes(
    "aten::cdist",
    defect="torch.onnx refuses it",
    method="norm of all differences: memory grows as the product of the sizes",
    accuracy="1e-6 (float32)",
)
def cdist(x: Tensor, y: Tensor, p: float = 2.0, compute_mode: int | None = None) -> Tensor:
    return distance(x.unsqueeze(-2) - y.unsqueeze(-3), p)


def distance(difference: Tensor, p: float) -> Tensor:
    """Return the p-norm over the last dim."""
    size = difference.abs()
    if p == 0:
        return (size != 0).to(size.dtype).sum(-1)
    if p == 1:
        return size.sum(-1)
    if p == 2:
        return torch.sqrt((size * size).sum(-1))
    if math.isinf(p):
        return size.amax(-1)
    return torch.pow(torch.pow(size, p).sum(-1), 1 / p)


@FAMILY.decomposes(
    "aten::pdist",
    method="norm of the differences of all pairs of rows",
)
def pdist(x: Tensor, p: float = 2.0) -> Tensor:
    rows, columns = ordered_places(x.shape[0], 2, False, x.device).unbind(1)
    return distance(x.index_select(0, rows) - x.index_select(0, columns), p)


FAMILY.composites |= {"aten::linalg_tensorsolve"}
