"""Calls of decomposed operators on matrices: factorizations, systems, eigenvalues, distances."""

from __future__ import annotations

import torch

from repairs.check import Call
from repairs.operators import SQUARE, X, call, of

LOWER = torch.linalg.cholesky(SQUARE)
RIGHT = X.mT.contiguous()
PACKED, PIVOTS = torch.linalg.lu_factor(SQUARE)
REFLECTIONS, FACTORS = torch.geqrf(SQUARE)

CALLS: dict[str, list[Call]] = {
    **of(
        "linalg_lu linalg_slogdet slogdet linalg_cholesky_ex linalg_cholesky linalg_qr "
        "linalg_inv inverse linalg_inv_ex linalg_matrix_exp matrix_exp pinverse "
        "linalg_pinv.atol_rtol_tensor linalg_pinv.atol_rtol_float "
        "linalg_lu_factor linalg_lu_factor_ex geqrf linalg_eigvalsh linalg_svdvals",
        call(SQUARE),
    ),
    **of("linalg_det det", call(SQUARE.double())),
    **of("logdet", call(1e3 * torch.eye(24)), call(SQUARE.double())),
    **of("linalg_pinv", call(SQUARE, 1e-6)),
    **of("linalg_pinv.rcond_tensor", call(SQUARE, torch.tensor(0.3))),
    **of("linalg_solve linalg_solve_ex", call(SQUARE, RIGHT)),
    **of("linalg_solve_triangular", call(LOWER, RIGHT, upper=False)),
    **of("triangular_solve", call(RIGHT, LOWER, False)),
    **of("cholesky_solve", call(RIGHT, LOWER)),
    **of("cholesky_inverse", call(LOWER)),
    **of("linalg_matrix_power matrix_power", call(SQUARE, -2)),
    **of("lu_unpack", call(PACKED, PIVOTS)),
    **of("lu_solve", call(RIGHT, PACKED, PIVOTS)),
    **of("linalg_lu_solve", call(PACKED, PIVOTS, RIGHT)),
    **of("linalg_householder_product orgqr", call(REFLECTIONS, FACTORS)),
    **of("ormqr", call(REFLECTIONS, FACTORS, RIGHT)),
    **of("_linalg_eigh", call(SQUARE, "L", False)),
    **of("_linalg_svd", call(SQUARE, False, False)),
    **of("cdist", call(X, SQUARE, 3.0), call(X, SQUARE, 1.0), call(X, SQUARE)),
    **of("pdist", call(SQUARE)),
    **of("linalg_matrix_sqrth", call(SQUARE), call(torch.zeros(3, 3))),
    **of("linalg_polar", call(SQUARE), call(RIGHT)),
    **of("linalg_tensorinv", call(SQUARE.reshape(3, 1, 3), 2)),
    **of("einsum", call("...ij,...j->i", [SQUARE[None], X[0]])),
}
