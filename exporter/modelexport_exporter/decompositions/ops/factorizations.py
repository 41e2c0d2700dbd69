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


def _unrolls_square(a: Tensor, *rest: object, **named: object) -> bool:
    return unrolls(a) and isinstance(a.shape[-2], int)


def packed_lu(a: Tensor) -> tuple[Tensor, Tensor]:
    """Return L and U in one float64 matrix, and the order of the rows (partial pivoting)."""
    rows, columns = a.shape[-2], a.shape[-1]
    a = a.to(torch.float64)
    i = torch.arange(rows, device=a.device)
    j = torch.arange(columns, device=a.device)
    order = i.expand(a.shape[:-1])
    for k in range(min(rows, columns)):
        size = torch.where(i >= k, a[..., k].abs(), -1.0)
        pivot = size.argmax(-1, keepdim=True)
        swapped = torch.where(i == k, pivot, torch.where(i == pivot, k, i))
        order = order.gather(-1, swapped)
        a = a.gather(-2, swapped.unsqueeze(-1).expand(a.shape))
        row = a[..., k : k + 1, :]
        head = row[..., k : k + 1]
        factor = a[..., :, k : k + 1] / torch.where(head == 0, torch.ones_like(head), head)
        below = (i > k).unsqueeze(-1)
        factor = torch.where(below, factor, 0.0)
        a = a - factor * torch.where(j > k, row, 0.0)
        a = torch.where(below & (j == k), factor, a)
    return a, order


def parity(order: Tensor, n: int) -> Tensor:
    """Return the sign of each permutation: the number of its inversions, even or odd."""
    later = torch.ones(n, n, device=order.device, dtype=torch.bool).triu(1)
    inverted = (order.unsqueeze(-1) > order.unsqueeze(-2)) & later
    return 1 - 2 * (inverted.to(torch.int64).sum((-2, -1)) % 2)


_LU = "Gaussian elimination with partial pivoting, unrolled, in float64"


def _unpack(a: Tensor, packed: Tensor) -> tuple[Tensor, Tensor]:
    k = min(a.shape[-2], a.shape[-1])
    unit = torch.eye(a.shape[-2], k, dtype=torch.float64, device=a.device)
    lower = packed[..., :, :k].tril(-1) + unit
    return lower.to(a.dtype), packed[..., :k, :].triu().to(a.dtype)


@FAMILY.decomposes("aten::linalg_lu", method=_LU, applies=_unrolls_square)
def linalg_lu(a: Tensor, *, pivot: bool = True) -> tuple[Tensor, Tensor, Tensor]:
    assert pivot
    packed, order = packed_lu(a)
    lower, upper = _unpack(a, packed)
    i = torch.arange(a.shape[-2], device=a.device)
    permutation = (i.unsqueeze(-1) == order.unsqueeze(-2)).to(a.dtype)
    return permutation, lower, upper


@FAMILY.decomposes("aten::linalg_slogdet", "aten::slogdet", method=_LU, applies=_unrolls_square)
def linalg_slogdet(a: Tensor) -> tuple[Tensor, Tensor]:
    packed, order = packed_lu(a)
    diagonal = packed.diagonal(dim1=-2, dim2=-1)
    sign = torch.sign(diagonal).prod(-1) * parity(order, a.shape[-1])
    return sign.to(a.dtype), torch.log(diagonal.abs()).sum(-1).to(a.dtype)


@FAMILY.decomposes(
    "aten::logdet",
    defect="the logarithm of ONNX's Det, which overflows; onnxruntime has no Det of float64",
    method=_LU,
    applies=_unrolls_square,
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
    factor = torch.stack(columns, -1).to(a.dtype)
    info = torch.zeros(a.shape[:-2], dtype=torch.int32, device=a.device)
    return (factor.mT if upper else factor), info


@FAMILY.decomposes("aten::linalg_cholesky", method="as linalg_cholesky_ex", applies=unrolls)
def linalg_cholesky(a: Tensor, *, upper: bool = False) -> Tensor:
    # Not by torch's own definition: that one checks for errors with an effect ONNX cannot express.
    return linalg_cholesky_ex(a, upper=upper)[0]


@FAMILY.decomposes(
    "aten::linalg_qr",
    method="Householder reflections with LAPACK's signs, unrolled, in float64",
    applies=_unrolls_square,
)
def linalg_qr(a: Tensor, mode: str = "reduced") -> tuple[Tensor, Tensor]:
    rows, columns = a.shape[-2], a.shape[-1]
    r = a.to(torch.float64)
    i = torch.arange(rows, device=a.device)
    q = torch.eye(rows, dtype=torch.float64, device=a.device).expand(*a.shape[:-2], rows, rows)
    for k in range(min(rows - 1, columns)):
        column = r[..., :, k]
        head = column[..., k : k + 1]
        below = torch.where(i > k, column, 0.0)
        squares = (below * below).sum(-1, keepdim=True)
        norm = torch.sqrt(squares + head * head)
        first = head + torch.where(head < 0, -norm, norm)
        v = torch.where(i == k, first, below).unsqueeze(-1)
        length = squares + first * first
        scale = 2 / torch.where(squares == 0, torch.ones_like(length), length)
        scale = torch.where(squares == 0, 0.0, scale).unsqueeze(-1)
        r = r - scale * v * (v.mT @ r)
        q = q - scale * (q @ v) * v.mT
    k = min(rows, columns)
    r = r.triu().to(a.dtype)
    if mode == "r":
        return a.new_zeros(0), r[..., :k, :]
    if mode == "complete":
        return q.to(a.dtype), r
    return q[..., :, :k].to(a.dtype), r[..., :k, :]
