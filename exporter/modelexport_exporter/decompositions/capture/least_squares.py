"""Least squares, whose results torch.export does not know the shapes of."""

from __future__ import annotations

import torch
from torch import Tensor

from modelexport_exporter.decompositions.capture.registry import Replacements, Result
from modelexport_exporter.decompositions.ops.linalg import is_vector
from modelexport_exporter.decompositions.ops.pseudo_inverses import limit, pseudo_inverse
from modelexport_exporter.decompositions.ops.symmetric_eigenvalues import (
    has_singular_values,
    singular_values,
)

CALLS = Replacements()


@CALLS.replaces("linalg_lstsq", torch.linalg.lstsq)
def lstsq(a: Tensor, b: Tensor, rcond: float | None = None, *, driver: str | None = None) -> Result:
    """Return the solution, and what the driver adds to it; residuals as for full rank."""
    if not has_singular_values(a):
        return NotImplemented
    rows, columns = a.shape[-2:]
    one_column = is_vector(a, b)
    right = (b.unsqueeze(-1) if one_column else b).to(torch.float64)
    solution = pseudo_inverse(a, None, rcond, hermitian=False) @ right
    driver = driver or "gelsy"
    residuals = values = a.new_empty(0)
    if rows > columns and driver != "gelsy":
        missing = right - a.to(torch.float64) @ solution
        residuals = (missing * missing).sum(-2).to(a.dtype)
    rank = torch.empty(0, dtype=torch.int64, device=a.device)
    if driver != "gels":
        found = singular_values(a)
        rank = (found > limit(a, found, None, rcond)).sum(-1)
        values = found.to(a.dtype) if driver in {"gelsd", "gelss"} else values
    solution = solution.squeeze(-1) if one_column else solution
    named = torch.return_types.linalg_lstsq  # type: ignore[attr-defined]
    return named((solution.to(a.dtype), residuals, rank, values))
