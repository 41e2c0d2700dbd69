"""Inputs that share dims, of which forward wants one larger (2 * h): found by calls, pure."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence

from modelexport_api.sizes import DimExpression, size_at
from modelexport_api.spec import Dim
from modelexport_exporter.diagnosis.accepted.limits import Limit, Sizes, listed, other_sizes

Size = int | str
Shapes = Mapping[str, Sequence[Size]]
"""The declared shape of each input."""
AcceptsShapes = Callable[[Shapes, Sizes], bool]

_FACTORS = ((2, 0), (4, 0), (8, 0), (16, 0), (3, 0), (1, 1), (1, -1))
"""Factors and offsets that are tried: what strides, patches and differences lead to."""
_CONFIRMED = 2
"""So many other sizes confirm one."""
_MOST_ELEMENTS = 1 << 24


def limits_of_multiples(
    accepts: AcceptsShapes, shapes: Shapes, dims: Mapping[str, Dim], refused: Sizes
) -> list[Limit]:
    """Return the shape of one input with which calls are accepted; empty if none is found.

    `accepts` may raise to end the search.
    """
    for name, changed in _candidates(shapes):
        tried = {**shapes, name: changed}
        others = other_sizes(dims, refused, _CONFIRMED)
        if (
            _fits(changed, refused)
            and accepts(tried, refused)
            and all(accepts(tried, sizes) for sizes in others)
        ):
            return [_described(name, shapes[name], changed)]
    return []


def _candidates(shapes: Shapes) -> Iterator[tuple[str, list[Size]]]:
    """Yield an input with another shape: of each of its dims, of all but the first, and of all."""
    for factor, more in _FACTORS:
        for name, shape in shapes.items():
            shared = _shared(name, shapes)
            groups = [*((dim,) for dim in shared), tuple(shared[1:]), tuple(shared)]
            for dims in dict.fromkeys(groups):
                if dims:
                    yield name, [_times(size, dims, factor, more) for size in shape]


def _shared(name: str, shapes: Shapes) -> list[str]:
    """Return the dims of an input that others have, too, in order."""
    others = {size for other, shape in shapes.items() if other != name for size in shape}
    own = (size for size in shapes[name] if isinstance(size, str) and size in others)
    return [dim for dim in dict.fromkeys(own) if DimExpression.parse(dim).is_plain]


def _times(size: Size, dims: Sequence[str], factor: int, more: int) -> Size:
    return (
        str(DimExpression(size, factor, more)) if isinstance(size, str) and size in dims else size
    )


def _fits(shape: Sequence[Size], sizes: Sizes) -> bool:
    """Return whether an input is not too large for a trial, and has no negative size."""
    found = [size_at(size, sizes) for size in shape]
    return min(found, default=0) >= 0 and math.prod(found) <= _MOST_ELEMENTS


def _described(name: str, shape: Sequence[Size], changed: Sequence[Size]) -> Limit:
    pairs = [(str(old), str(new)) for old, new in zip(shape, changed, strict=True) if old != new]
    old, new = (listed(list(dict.fromkeys(sizes))) for sizes in zip(*pairs, strict=True))
    return Limit(f"{new} for {name}", f"Write {new} for {old} of input {name} in inputs[].shape.")
