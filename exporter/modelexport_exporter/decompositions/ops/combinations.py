"""Combinations of elements, and powers in columns, which torch.onnx lacks."""

from __future__ import annotations

import itertools

import torch
from torch import Tensor

from modelexport_exporter.decompositions.ordered_places import ordered_places
from modelexport_exporter.decompositions.registry import Family

FAMILY = Family("Combinations", __doc__)

_PAIR = 2


@FAMILY.decomposes(
    "aten::combinations",
    method="elements by the places of each combination, in lexicographic order",
    applies=lambda x, r=_PAIR, *_: r > 0 or type(x.shape[0]) is int,
)
def combinations(x: Tensor, r: int = _PAIR, with_replacement: bool = False) -> Tensor:
    size = x.shape[0]
    if r == _PAIR or type(size) is not int:
        return x[ordered_places(size, r, with_replacement, x.device)]
    choose = itertools.combinations_with_replacement if with_replacement else itertools.combinations
    listed = list(choose(range(size), r))
    return x[torch.tensor(listed, dtype=torch.int64, device=x.device).reshape(-1, r)]


@FAMILY.decomposes(
    "aten::vander",
    method="products of 1, x, x, …, reversed unless they increase",
    accuracy="1e-6 of each element (float32)",
)
def vander(x: Tensor, N: int | None = None, increasing: bool = False) -> Tensor:  # noqa: N803
    columns = x.shape[0] if N is None else N
    factors = x[:, None].expand(x.shape[0], columns)
    first = torch.arange(columns, device=x.device) == 0
    powers = torch.where(first, torch.ones_like(factors), factors).cumprod(1)
    return powers if increasing else powers.flip(1)
