"""An input that forward wants with one axis more or less: found by calls, pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from modelexport_api.spec import Dim
from modelexport_exporter.diagnosis.accepted.limits import Limit, Sizes, other_sizes
from modelexport_exporter.diagnosis.accepted.multiples import AcceptsShapes, Shapes, Size

_CONFIRMED = 2
"""So many other sizes confirm one: broadcasting accepts some wrong ones by chance."""


def limits_of_ranks(
    accepts: AcceptsShapes, shapes: Shapes, dims: Mapping[str, Dim], refused: Sizes
) -> list[Limit]:
    """Return the shape of one input with which calls are accepted; empty if none is found.

    An axis of size 1 is added or left out. `accepts` may raise to end the search.
    """
    for name, changed in _candidates(shapes):
        tried = {**shapes, name: changed}
        others = other_sizes(dims, refused, _CONFIRMED)
        if accepts(tried, refused) and all(accepts(tried, sizes) for sizes in others):
            said = f"[{', '.join(map(str, changed))}]"
            return [Limit(f"{name} of shape {said}", f"Set shape: {said} for input {name}.")]
    return []


def _candidates(shapes: Shapes) -> Iterator[tuple[str, list[Size]]]:
    """Yield an input with another shape: channels come after the batch, features at the end."""
    for name, shape in shapes.items():
        for axis, size in enumerate(shape):
            if size == 1:
                yield name, [*shape[:axis], *shape[axis + 1 :]]
        for axis in dict.fromkeys((min(1, len(shape)), len(shape), 0)):
            yield name, [*shape[:axis], 1, *shape[axis:]]
