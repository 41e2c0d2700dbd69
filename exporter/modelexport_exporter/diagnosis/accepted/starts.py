"""Other sizes than those that forward refused, from which a search for accepted ones starts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations

from modelexport_api.spec import Dim
from modelexport_exporter.diagnosis.accepted.limits import Sizes, spread

_USUAL = (
    *(28, 32, 64, 77, 96, 112, 128, 160, 192, 224, 227, 240, 256, 299, 320, 384, 416, 448, 480),
    *(512, 600, 640, 768, 800, 1024, 8_000, 16_000, 22_050, 44_100, 48_000),
)
"""Sizes of pictures, texts and sounds that networks are often made for."""


def starts(dims: Mapping[str, Dim], refused: Sizes) -> Iterator[Sizes]:
    """Yield other sizes of one dim, of all, and two that are equal: the height and the width."""
    if not dims:
        return
    for name, dim in dims.items():
        for size in _likely([dim]):
            yield {**refused, name: size}
    yield {**refused, **{name: dim.max for name, dim in dims.items()}}
    low, high = _common(list(dims.values()))
    for size in {high, (low + high) // 2, low}:
        if low <= size <= high:
            yield {**refused, **dict.fromkeys(dims, size)}
    for one, other in combinations(dims, 2):
        for size in _likely([dims[one], dims[other]]):
            yield {**refused, one: size, other: size}


def _common(dims: Sequence[Dim]) -> tuple[int, int]:
    return max(dim.min for dim in dims), min(dim.max for dim in dims)


def _likely(dims: Sequence[Dim]) -> list[int]:
    low, high = _common(dims)
    if low > high:
        return []
    usual = (size for size in _USUAL if low <= size <= high)
    return list(dict.fromkeys([*spread(Dim(min=low, max=high)), *usual]))
