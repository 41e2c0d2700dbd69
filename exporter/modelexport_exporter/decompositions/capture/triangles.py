"""Places in a triangle, pairs of rows and their distances, where the size is that of a dynamic dim.

The places are those where a mask is true. How many these are is a formula of the size: without it
torch.export would take their number for one that depends on data, and refuse what follows.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch.fx.experimental.symbolic_shapes import statically_known_true

from modelexport_exporter.decompositions.capture.registry import (
    Replacements,
    Result,
    is_open,
)
from modelexport_exporter.decompositions.ops.linalg import distance
from modelexport_exporter.decompositions.ordered_places import ordered_places
from modelexport_exporter.decompositions.sizes import Size
from modelexport_exporter.torch_internals.symbolic_sizes import check

CALLS = Replacements()

_PAIR = 2


@CALLS.replaces("tril_indices", torch.tril_indices)
def tril_indices(
    row: Size,
    col: Size,
    offset: Size = 0,
    *,
    dtype: torch.dtype | None = None,
    device: Any = None,  # noqa: ANN401
    **_: object,
) -> Result:
    if not any(map(is_open, (row, col, offset))):
        return NotImplemented
    count = _at_least(row, -offset) if _are_equal(row, col) else None
    places = _places(row, col, device, lambda i, j: j - i <= offset, count)
    return places.mT.to(dtype or torch.int64)


@CALLS.replaces("triu_indices", torch.triu_indices)
def triu_indices(
    row: Size,
    col: Size,
    offset: Size = 0,
    *,
    dtype: torch.dtype | None = None,
    device: Any = None,  # noqa: ANN401
    **_: object,
) -> Result:
    if not any(map(is_open, (row, col, offset))):
        return NotImplemented
    count = _at_least(row, offset) if _are_equal(row, col) else None
    places = _places(row, col, device, lambda i, j: j - i >= offset, count)
    return places.mT.to(dtype or torch.int64)


@CALLS.replaces("pdist", torch.pdist)
def pdist(input: Tensor, p: float = 2.0) -> Result:  # noqa: A002
    if not is_open(input.shape[0]):
        return NotImplemented
    rows, columns = _combinations(input, _PAIR, False).unbind(1)
    return distance(input[rows] - input[columns], p)


@CALLS.replaces("combinations", torch.combinations)
def combinations(input: Tensor, r: int = _PAIR, with_replacement: bool = False) -> Result:  # noqa: A002
    if not is_open(input.shape[0]) or r < 1:
        return NotImplemented
    return input[_combinations(input, r, with_replacement)]


def _combinations(x: Tensor, r: int, with_replacement: bool) -> Tensor:
    size = x.shape[0]
    places = ordered_places(size, r, with_replacement, x.device)
    if r != _PAIR:  # torch cannot solve the conditions that a division by 6 brings
        return places
    return _first(places, _of_triangle(size, 0 if with_replacement else 1))


def _places(
    rows: Size,
    columns: Size,
    device: Any,  # noqa: ANN401
    inside: Callable[[Tensor, Tensor], Tensor],
    count: Size | None,
) -> Tensor:
    """Return [count, 2]: rows and columns, row by row; count is None where no formula has it."""
    i = torch.arange(rows, device=device).unsqueeze(1)
    j = torch.arange(columns, device=device).unsqueeze(0)
    places = inside(i, j).nonzero()
    return places if count is None else _first(places, count)


def _first(places: Tensor, count: Size) -> Tensor:
    """Return the places, which are that many, with a size that torch.export can reckon with."""
    check(places.shape[0] >= count)
    return places.narrow(0, 0, count)


def _at_least(size: Size, offset: Size) -> Size | None:
    """Return in how many places of a square the column is later than the row by the offset.

    None for an offset whose sign is not known.
    """
    if statically_known_true(offset >= 0):
        return _of_triangle(size, offset)
    if statically_known_true(offset < 0):
        return size * size - _of_triangle(size, 1 - offset)
    return None


def _of_triangle(size: Size, cut: Size) -> Size:
    """Return how many places a triangle has from the diagonal on that is cut off."""
    side = size - cut
    if not statically_known_true(side >= -1):
        side = torch.sym_max(side, 0)
    return side * (side + 1) // 2


def _are_equal(one: Size, other: Size) -> bool:
    return statically_known_true(one == other)
