"""LU, Cholesky and QR factorizations, unrolled over the columns of a matrix of static size.

float32 is computed in float64: the difference from eager is then eager's own rounding error.
"""

from __future__ import annotations

import torch
from torch import Tensor

from modelexport_exporter.decompositions.registry import Family

FAMILY = Family("Matrix factorizations", __doc__)

LARGEST = 32
"""The maximum number of columns to unroll, about twenty nodes each."""


def unrolls(a: Tensor, *_: object, **__: object) -> bool:
    """Return whether the matrix is real and small enough, and its columns are known."""
    columns = a.shape[-1]
    return a.dtype.is_floating_point and isinstance(columns, int) and columns <= LARGEST


def unrolls_square(a: Tensor, *rest: object, **named: object) -> bool:
    """Return whether the rows are known, too."""
    return unrolls(a) and isinstance(a.shape[-2], int)


def packed_lu(a: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Return L and U in one float64 matrix, the order of the rows, and LAPACK's pivots.

    The pivots are int32, [..., min(rows, columns)], and count from 1.
    """
    rows, columns = a.shape[-2], a.shape[-1]
    a = a.to(torch.float64)
    i = torch.arange(rows, device=a.device)
    j = torch.arange(columns, device=a.device)
    order = i.expand(a.shape[:-1])
    pivots = []
    for k in range(min(rows, columns)):
        size = torch.where(i >= k, a[..., k].abs(), -1.0)
        pivot = size.argmax(-1, keepdim=True)
        pivots.append(pivot + 1)
        swapped = swap(i, k, pivot)
        order = order.gather(-1, swapped)
        a = a.gather(-2, swapped.unsqueeze(-1).expand(a.shape))
        row = a[..., k : k + 1, :]
        head = row[..., k : k + 1]
        factor = a[..., :, k : k + 1] / torch.where(head == 0, torch.ones_like(head), head)
        below = (i > k).unsqueeze(-1)
        factor = torch.where(below, factor, 0.0)
        a = a - factor * torch.where(j > k, row, 0.0)
        a = torch.where(below & (j == k), factor, a)
    if not pivots:
        return a, order, order[..., :0].to(torch.int32)
    return a, order, torch.cat(pivots, -1).to(torch.int32)


def swap(places: Tensor, k: int | Tensor, pivot: Tensor) -> Tensor:
    """Return the places 0, 1, … after place k and place `pivot` [..., 1] were exchanged."""
    return torch.where(places == k, pivot, torch.where(places == pivot, k, places))


def permutation(order: Tensor, dtype: torch.dtype) -> Tensor:
    """Return P of A = P L U, where row k of L U is row `order[k]` of A."""
    i = torch.arange(order.shape[-1], device=order.device)
    return (i.unsqueeze(-1) == order.unsqueeze(-2)).to(dtype)


def parity(order: Tensor, n: int) -> Tensor:
    """Return the sign of each permutation: the number of its inversions, even or odd."""
    later = torch.ones(n, n, device=order.device, dtype=torch.bool).triu(1)
    inverted = (order.unsqueeze(-1) > order.unsqueeze(-2)) & later
    return 1 - 2 * (inverted.to(torch.int64).sum((-2, -1)) % 2)


def sign_and_logarithm(pivots: Tensor, parity: Tensor, dtype: torch.dtype) -> tuple[Tensor, Tensor]:
    """Return those of a determinant: logarithms cancel in eager's precision as they do in eager."""
    rounded = pivots.to(dtype)
    return torch.sign(rounded).prod(-1) * parity.to(dtype), torch.log(rounded.abs()).sum(-1)


_LU = "Gaussian elimination with partial pivoting, unrolled, in float64"


def unpack(packed: Tensor) -> tuple[Tensor, Tensor]:
    """Return L and U, which share a matrix."""
    k = min(packed.shape[-2], packed.shape[-1])
    unit = torch.eye(packed.shape[-2], k, dtype=packed.dtype, device=packed.device)
    return packed[..., :, :k].tril(-1) + unit, packed[..., :k, :].triu()


@FAMILY.decomposes("aten::linalg_lu", method=_LU, applies=unrolls_square)
def linalg_lu(a: Tensor, *, pivot: bool = True) -> tuple[Tensor, Tensor, Tensor]:
    assert pivot
    packed, order, _ = packed_lu(a)
    lower, upper = unpack(packed)
    return permutation(order, a.dtype), lower.to(a.dtype), upper.to(a.dtype)


@FAMILY.decomposes("aten::linalg_slogdet", "aten::slogdet", method=_LU, applies=unrolls_square)
def linalg_slogdet(a: Tensor) -> tuple[Tensor, Tensor]:
    if a.shape[-1] == 0:
        return a.new_ones(a.shape[:-2]), a.new_zeros(a.shape[:-2])
    return sign_and_logarithm(*_pivots(a), a.dtype)


def _pivots(a: Tensor) -> tuple[Tensor, Tensor]:
    """Return the float64 pivots of Gaussian elimination [..., n], and the parity of its swaps."""
    packed, order, _ = packed_lu(a)
    return packed.diagonal(dim1=-2, dim2=-1), parity(order, a.shape[-1])


def _is_double(a: Tensor) -> bool:
    return a.dtype is torch.float64 and unrolls_square(a)


@FAMILY.decomposes(
    "aten::linalg_det",
    "aten::det",
    defect="onnxruntime has no Det of float64",
    method=_LU,
    applies=_is_double,
)
def linalg_det(a: Tensor) -> Tensor:
    if a.shape[-1] == 0:
        return a.new_ones(a.shape[:-2])
    pivots, sign = _pivots(a)
    return pivots.prod(-1) * sign


@FAMILY.decomposes(
    "aten::logdet",
    defect="the logarithm of ONNX's Det, which overflows; onnxruntime has no Det of float64",
    method=_LU,
    applies=unrolls_square,
)
def logdet(a: Tensor) -> Tensor:
    sign, value = linalg_slogdet(a)
    return torch.where(sign < 0, torch.full_like(value, float("nan")), value)


@FAMILY.decomposes(
    "aten::linalg_cholesky_ex",
    method="column by column, unrolled, in float64; NaN where the matrix is not positive definite",
    applies=unrolls,
)
def linalg_cholesky_ex(
    a: Tensor,
    *,
    upper: bool = False,
    check_errors: bool = False,
) -> tuple[Tensor, Tensor]:
    n = a.shape[-1]
    rest = (a.mT if upper else a).to(torch.float64)
    i = torch.arange(n, device=a.device)
    columns = []
    for k in range(n):
        column = rest[..., :, k] / torch.sqrt(rest[..., k, k]).unsqueeze(-1)
        column = torch.where(i >= k, column, 0.0)
        columns.append(column)
        rest = rest - column.unsqueeze(-1) * column.unsqueeze(-2)
    factor = torch.stack(columns, -1).to(a.dtype) if columns else a
    info = torch.zeros(a.shape[:-2], dtype=torch.int32, device=a.device)
    return (factor.mT if upper else factor), info


@FAMILY.decomposes("aten::linalg_cholesky", method="as linalg_cholesky_ex", applies=unrolls)
def linalg_cholesky(a: Tensor, *, upper: bool = False) -> Tensor:
    # Not by torch's own definition: that one checks for errors with an effect ONNX cannot express.
    return linalg_cholesky_ex(a, upper=upper)[0]


def packed_qr(a: Tensor) -> tuple[Tensor, Tensor]:
    """Return R above the vectors of Householder's reflections, and their factors, as LAPACK.

    Both are float64; the vectors begin with 1, which is not kept. The factors are
    [..., min(rows, columns)].
    """
    rows, columns = a.shape[-2], a.shape[-1]
    a = a.to(torch.float64)
    i = torch.arange(rows, device=a.device)
    j = torch.arange(columns, device=a.device)
    factors = []
    for k in range(min(rows, columns)):
        column = a[..., :, k]
        head = column[..., k : k + 1]
        below = torch.where(i > k, column, 0.0)
        squares = (below * below).sum(-1, keepdim=True)
        norm = torch.sqrt(squares + head * head)
        beta = torch.where(squares == 0, head, torch.where(head < 0, norm, -norm))
        factor = (beta - head) / torch.where(beta == 0, torch.ones_like(beta), beta)
        divisor = torch.where(squares == 0, torch.ones_like(head), head - beta)
        v = (torch.where(i == k, 1.0, below / divisor)).unsqueeze(-1)
        reflected = a - factor.unsqueeze(-1) * v * (v.mT @ a)
        a = torch.where(j >= k, reflected, a)
        a = torch.where((i > k).unsqueeze(-1) & (j == k), v, a)
        factors.append(factor)
    return a, torch.cat(factors, -1) if factors else a[..., 0, :0]


def reflect(packed: Tensor, factors: Tensor, x: Tensor, *, transposed: bool = False) -> Tensor:
    """Return Q x, or Qᵀ x, of the reflections that `packed_qr` returns."""
    count = factors.shape[-1]
    vectors = packed.tril(-1) + torch.eye(
        packed.shape[-2], packed.shape[-1], dtype=packed.dtype, device=packed.device
    )
    for k in range(count) if transposed else reversed(range(count)):
        v = vectors[..., :, k : k + 1]
        x = x - factors[..., k : k + 1].unsqueeze(-1) * v * (v.mT @ x)
    return x


@FAMILY.decomposes(
    "aten::linalg_qr",
    method="Householder reflections with LAPACK's signs, unrolled, in float64",
    applies=unrolls_square,
)
def linalg_qr(a: Tensor, mode: str = "reduced") -> tuple[Tensor, Tensor]:
    rows, k = a.shape[-2], min(a.shape[-2], a.shape[-1])
    packed, factors = packed_qr(a)
    r = packed.triu().to(a.dtype)
    if mode == "r":
        return a.new_zeros(0), r[..., :k, :]
    wide = rows if mode == "complete" else k
    unit = torch.eye(rows, wide, dtype=torch.float64, device=a.device)
    q = reflect(packed, factors, unit.expand(*a.shape[:-2], rows, wide)).to(a.dtype)
    return q, (r if mode == "complete" else r[..., :k, :])
