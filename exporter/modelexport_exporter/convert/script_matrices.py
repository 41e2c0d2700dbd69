"""Definitions of operators on matrices that torch's exporter of scripts lacks.

torch.jit.script compiles them, as those of `script_definitions.py`. The formulas are those of
`decompositions/ops/linalg.py` and `factorizations.py`, in float64, as loops over the columns.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Tuple  # noqa: UP035 - torch.jit.script reads it

import torch
from torch import Tensor


def _diag_embed(x: Tensor, offset: int, dim1: int, dim2: int) -> Tensor:
    row = max(-offset, 0)
    places = torch.arange(x.size(-1) + abs(offset))
    inside = places.unsqueeze(0) - places.unsqueeze(1) == offset
    at = torch.clamp(places - row, 0, x.size(-1) - 1)
    rows = x.index_select(-1, at).unsqueeze(-1)
    found = torch.where(inside, rows, torch.zeros_like(rows))
    if dim1 != -2 or dim2 != -1:  # noqa: PLR2004
        found = torch.movedim(found, [-2, -1], [dim1, dim2])
    return found


def _below(a: Tensor) -> Tensor:
    """Return how far each element of a square matrix is below its diagonal."""
    places = torch.arange(a.size(-1))
    return places.unsqueeze(1) - places.unsqueeze(0)


def _cholesky(a: Tensor, upper: bool) -> Tensor:
    places = torch.arange(a.size(-1))
    rest = a.to(torch.float64)
    if upper:
        rest = rest.transpose(-2, -1)
    found = torch.zeros_like(rest)
    for k in range(a.size(-1)):
        column = rest.select(-1, k)
        head = column.select(-1, k).unsqueeze(-1)
        column = torch.where(places >= k, column / torch.sqrt(head), torch.zeros_like(column))
        rest = rest - column.unsqueeze(-1) * column.unsqueeze(-2)
        found = torch.where(places == k, column.unsqueeze(-1), found)
    if upper:
        found = found.transpose(-2, -1)
    return found.to(a.dtype)


def _triangular_inverse(a: Tensor) -> Tensor:
    """Return the inverse of a triangular float64 matrix: a product of (I + N^(2^k))."""
    on = _below(a) == 0
    identity = on.to(torch.float64)
    diagonal = torch.where(on, a, torch.zeros_like(a)).sum([-1])
    power = identity - a / diagonal.unsqueeze(-1)
    inverse = identity + power
    terms = 2
    while terms < a.size(-1):
        power = torch.matmul(power, power)
        inverse = inverse + torch.matmul(inverse, power)
        terms = terms * 2
    return inverse / diagonal.unsqueeze(-2)


def _triangle(a: Tensor, upper: bool, unitriangular: bool) -> Tensor:
    below, values = _below(a), a.to(torch.float64)
    inside = below <= 0 if upper else below >= 0
    values = torch.where(inside, values, torch.zeros_like(values))
    return torch.where(below == 0, torch.ones_like(values), values) if unitriangular else values


def _solve_triangular(a: Tensor, b: Tensor, upper: bool, left: bool, unitriangular: bool) -> Tensor:
    inverse, given = _triangular_inverse(_triangle(a, upper, unitriangular)), b.to(torch.float64)
    found = torch.matmul(inverse, given) if left else torch.matmul(given, inverse)
    return found.to(b.dtype)


def _triangular_solve(
    b: Tensor, a: Tensor, upper: bool, transpose: bool, unitriangular: bool
) -> Tuple[Tensor, Tensor]:  # noqa: UP006
    matrix = a.transpose(-2, -1) if transpose else a
    return _solve_triangular(matrix, b, upper != transpose, True, unitriangular), a


def _cholesky_solve(b: Tensor, factor: Tensor, upper: bool) -> Tensor:
    lower = factor.transpose(-2, -1) if upper else factor
    inverse = _triangular_inverse(_triangle(lower, False, False))
    half = torch.matmul(inverse, b.to(torch.float64))
    return torch.matmul(inverse.transpose(-2, -1), half).to(b.dtype)


def _cholesky_inverse(factor: Tensor, upper: bool) -> Tensor:
    identity = (_below(factor) == 0).to(factor.dtype)
    return _cholesky_solve(identity, factor, upper)


def _packed_lu(a: Tensor) -> Tuple[Tensor, Tensor]:  # noqa: UP006
    """Return L and U in one float64 matrix, and the order of the rows (partial pivoting)."""
    packed = a.to(torch.float64)
    i = torch.arange(a.size(-1))
    order = torch.zeros_like(packed.select(-1, 0)).to(torch.int64) + i
    for k in range(a.size(-1)):
        column = packed.select(-1, k)
        size = torch.where(i >= k, column.abs(), torch.full_like(column, -1.0))
        pivot = size.argmax(-1, keepdim=True)
        swapped = torch.where(i == k, pivot, torch.where(i == pivot, torch.full_like(i, k), i))
        order = order.gather(-1, swapped)
        packed = packed.gather(-2, swapped.unsqueeze(-1).expand(packed.size()))
        row = packed.select(-2, k).unsqueeze(-2)
        column = packed.select(-1, k).unsqueeze(-1)
        head = column.select(-2, k).unsqueeze(-1)
        factor = column / torch.where(head == 0, torch.ones_like(head), head)
        below = (i > k).unsqueeze(-1)
        factor = torch.where(below, factor, torch.zeros_like(factor))
        packed = packed - factor * torch.where(i > k, row, torch.zeros_like(row))
        packed = torch.where(below & (i == k), factor, packed)
    return packed, order


def _solved(a: Tensor, b: Tensor) -> Tensor:
    """Return the solution of a x = b in float64; b is a matrix."""
    packed, order = _packed_lu(a)
    moved = (order.unsqueeze(-1) == torch.arange(a.size(-1))).to(torch.float64)
    half = torch.matmul(_triangular_inverse(_triangle(packed, False, True)), moved)
    inverse = torch.matmul(_triangular_inverse(_triangle(packed, True, False)), half)
    return torch.matmul(inverse, b.to(torch.float64))


def _solve(a: Tensor, b: Tensor, left: bool) -> Tensor:
    if b.dim() == 1 or b.dim() == a.dim() - 1:
        return _solved(a, b.unsqueeze(-1)).squeeze(-1).to(b.dtype)
    if left:
        return _solved(a, b).to(b.dtype)
    return _solved(a.transpose(-2, -1), b.transpose(-2, -1)).transpose(-2, -1).to(b.dtype)


def _inverse(a: Tensor) -> Tensor:
    return _solved(a, (_below(a) == 0).to(a.dtype)).to(a.dtype)


def _sign_and_log(a: Tensor) -> Tuple[Tensor, Tensor]:  # noqa: UP006
    packed, order = _packed_lu(a)
    below = _below(a)
    diagonal = torch.where(below == 0, packed, torch.zeros_like(packed)).sum([-1])
    inverted = (order.unsqueeze(-1) > order.unsqueeze(-2)) & (below < 0)
    parity = 1 - 2 * (inverted.to(torch.int64).sum([-2, -1]) % 2)
    sign = torch.sign(diagonal).prod(-1) * parity
    return sign.to(a.dtype), torch.log(diagonal.abs()).sum([-1]).to(a.dtype)


def _logdet(a: Tensor) -> Tensor:
    sign, log = _sign_and_log(a)
    return torch.where(sign < 0, torch.full_like(log, float("nan")), log)


OF_MATRICES: dict[str, Callable[..., Any]] = {
    "cholesky_inverse": _cholesky_inverse,
    "cholesky_solve": _cholesky_solve,
    "diag_embed": _diag_embed,
    "linalg_cholesky": _cholesky,
    "linalg_inv": _inverse,
    "linalg_slogdet": _sign_and_log,
    "linalg_solve": _solve,
    "linalg_solve_triangular": _solve_triangular,
    "logdet": _logdet,
    "slogdet": _sign_and_log,
    "triangular_solve": _triangular_solve,
}
"""Definitions by the names of the operators' schemas."""
