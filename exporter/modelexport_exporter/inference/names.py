"""Names for dims: `batch`, `sequence`, `height`, `width`, else by input and axis; pure."""

from __future__ import annotations

from collections.abc import Iterable

from modelexport_exporter.inference.guess import BATCH, Guesses

_BY_RANK = {
    (2, 1): "sequence",
    (3, 1): "sequence",
    (3, 2): "length",
    (4, 1): "channels",
    (4, 2): "height",
    (4, 3): "width",
    (5, 2): "depth",
    (5, 3): "height",
    (5, 4): "width",
}


def dim_names(guesses: Guesses, axes: Iterable[str], stated: Iterable[str] = ()) -> dict[str, str]:
    """Return a name for each axis: that which the user states, else one by its place."""
    taken = set(stated)
    names: dict[str, str] = {}
    for axis in axes:
        if axis in taken:
            names[axis] = axis
            continue
        name = _name(guesses, axis)
        if name in taken:
            owner = next(one for one in guesses.inputs if axis in one.axes)
            name = f"{owner.name.replace('.', '_')}_{name}"
        while name in taken:
            name = f"{name}_"
        taken.add(name)
        names[axis] = name
    return names


def _name(guesses: Guesses, axis: str) -> str:
    if guesses.is_first(axis):
        return BATCH
    owner = next(one for one in guesses.inputs if axis in one.axes)
    place = owner.axes.index(axis)
    return _BY_RANK.get((len(owner.axes), place), f"size_{place}")
