"""Floats of the scales that a model's numbers name.

`round(x / 123457)` is 0 for all that is drawn otherwise, and a file without it agrees.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

from modelexport_api.spec import Input
from modelexport_exporter.sampling.draw import (
    FLOATS,
    LARGEST_MAGNITUDE,
    NUMPY_DTYPES,
    takes_far,
)
from modelexport_exporter.sampling.rows import POWERS

Array = NDArray[Any]

FURTHEST = 3.0
"""Multiples of a number up to which floats are drawn: its halves and the next whole ones."""
_SHARE = 0.5
"""Share of the elements that are replaced, in every other row; in the others all are."""


def has_scales(inputs: Sequence[Input], numbers: Iterable[float]) -> bool:
    """Return whether an input holds floats of the scale of one of the numbers."""
    known = [*numbers]
    return any(len(_scales_of(entry, known)) for entry in inputs)


def draw_at_scales(
    inputs: Sequence[Input], arrays: Mapping[str, Array], numbers: Sequence[float], seed: int
) -> dict[str, Array]:
    """Return the arrays with floats around 0 at the scale of one of the numbers in each row."""
    replaced = dict(arrays)
    for position, entry in enumerate(inputs):
        scales, array = _scales_of(entry, numbers), arrays[entry.name]
        if not len(scales) or not array.size:
            continue
        rng = np.random.default_rng([seed, position])
        rows = (*array.shape[:-1], 1) if array.ndim else ()
        count = int(np.prod(rows))
        scale = np.resize(np.roll(scales, -seed), count).reshape(rows)
        drawn = scale * rng.uniform(-FURTHEST, FURTHEST, array.shape)
        whole = (np.arange(count) % 2 == 0).reshape(rows)
        taken = whole | (rng.random(array.shape) < _SHARE)
        replaced[entry.name] = np.asarray(np.where(taken, drawn, array)).astype(array.dtype)
    return replaced


def _scales_of(entry: Input, numbers: Iterable[float]) -> Array:
    """Return the magnitudes that no other sample has, and that the input's dtype holds.

    Ranges are drawn from end to end.
    """
    if entry.dtype not in FLOATS or entry.range is not None:
        return np.array([])
    drawn = 10.0 ** POWERS[1] if takes_far(entry) else LARGEST_MAGNITUDE
    largest = float(ml_dtypes.finfo(NUMPY_DTYPES[entry.dtype]).max)  # type: ignore[no-untyped-call]
    magnitudes = {abs(float(number)) for number in numbers}
    return np.array(sorted(one for one in magnitudes if drawn < one <= largest / FURTHEST))
