"""Inverses, linear systems and diagonals of complex matrices.

A complex system of n equations is a real one of 2 n: [[re, -im], [im, re]] on real above imaginary.
"""

from __future__ import annotations

import torch
from torch import Tensor

from modelexport_exporter.decompositions.complex.pairs import Forms, halves, join, parts, whole

FORMS = Forms()


def _solve_matrices(a: Tensor, b: Tensor) -> Tensor:
    (ar, ai), (br, bi) = halves(a), halves(b)
    system = torch.cat([torch.cat([ar, -ai], -1), torch.cat([ai, ar], -1)], -2)
    solution = torch.linalg.solve(system, torch.cat([br, bi], -2))
    size = a.shape[-1]
    return join(solution.narrow(-2, 0, size), solution.narrow(-2, size, size))


@FORMS.form_of("aten::linalg_solve")
def solve(a: Tensor, b: Tensor, *, left: bool = True) -> Tensor:
    if b.dim() == 1 or (b.dim() == a.dim() - 1 and b.shape == a.shape[:-1]):
        return _solve_matrices(a if left else a.mT, b.unsqueeze(-1)).squeeze(-1)
    return _solve_matrices(a, b) if left else _solve_matrices(a.mT, b.mT).mT


@FORMS.form_of("aten::linalg_solve_ex")
def solve_ex(
    a: Tensor, b: Tensor, *, left: bool = True, check_errors: bool = False
) -> tuple[Tensor, Tensor]:
    return solve(a, b, left=left), _no_problem(a)


@FORMS.form_of("aten::linalg_inv", "aten::inverse")
def inverse(a: Tensor) -> Tensor:
    return _solve_matrices(a, torch.eye(a.shape[-1], dtype=a.dtype.to_real()).expand(a.shape))


@FORMS.form_of("aten::linalg_inv_ex")
def inverse_ex(a: Tensor, *, check_errors: bool = False) -> tuple[Tensor, Tensor]:
    return inverse(a), _no_problem(a)


def _no_problem(a: Tensor) -> Tensor:
    return torch.zeros(a.shape[:-2], dtype=torch.int32, device=a.device)


@FORMS.form_of("aten::diagonal")
def diagonal(x: Tensor, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Tensor:
    read = parts(x).diagonal(offset, dim1 % x.dim(), dim2 % x.dim())
    return whole(read.movedim(-2, -1))
