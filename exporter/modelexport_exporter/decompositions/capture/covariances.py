"""Covariances and correlations, which torch.export captures with conditions on values and sizes.

The formulas are those of PyTorch's documentation of `torch.cov`.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from modelexport_exporter.decompositions.capture.registry import Replacements, Result

CALLS = Replacements()


@CALLS.replaces("cov", torch.cov, Tensor.cov)
def cov(
    x: Tensor,
    *,
    correction: int = 1,
    fweights: Tensor | None = None,
    aweights: Tensor | None = None,
) -> Result:
    if x.dtype.is_complex:
        return NotImplemented
    rows = x.reshape(1, -1) if x.dim() < 2 else x
    weights = fweights if aweights is None else aweights
    if fweights is not None and aweights is not None:
        weights = fweights * aweights
    if weights is None:
        centred = rows - rows.sum(1, keepdim=True) / rows.shape[1]
        freedom: Any = torch.sym_max(rows.shape[1] - correction, 0)
        return (centred @ centred.mT / freedom).squeeze()
    total = weights.sum()
    centred = rows - (rows * weights).sum(1, keepdim=True) / total
    used = 1 if aweights is None else (weights * aweights).sum() / total
    products = (centred * weights) @ centred.mT
    return (products / (total - correction * used).clamp(min=0)).squeeze()


@CALLS.replaces("corrcoef", torch.corrcoef, Tensor.corrcoef)
def corrcoef(x: Tensor) -> Result:
    if x.dtype.is_complex:
        return NotImplemented
    matrix = cov(x)
    if matrix.dim() == 0:
        return matrix / matrix
    deviation = torch.sqrt(matrix.diagonal())
    return (matrix / deviation.unsqueeze(1) / deviation.unsqueeze(0)).clamp(-1, 1)
