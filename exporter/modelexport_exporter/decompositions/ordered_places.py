"""The places of combinations of rows: increasing tuples, found where a mask is true."""

from __future__ import annotations

from itertools import pairwise

import torch
from torch import Tensor

from modelexport_exporter.decompositions.sizes import Size


def ordered_places(size: Size, r: int, with_replacement: bool, device: torch.device) -> Tensor:
    """Return [combinations, r], in lexicographic order; memory grows as size to the power of r."""
    places = torch.arange(size, device=device)
    along = [places.reshape([-1 if axis == k else 1 for axis in range(r)]) for k in range(r)]
    kept = torch.ones([size] * r, dtype=torch.bool, device=device)
    for one, next_one in pairwise(along):
        kept = kept & (one <= next_one if with_replacement else one < next_one)
    return kept.nonzero()
