"""NaN and infinities, as they occur in data: single ones, gaps, whole rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from modelexport_api.spec import Input
from modelexport_exporter.core.sample import Sample, Values
from modelexport_exporter.sampling.draw import FLOATS

Array = NDArray[Any]

_FEW, _MOST = 0.25, 0.75
"""Shares of the elements that are missing one by one."""
_PATTERNS = 6


def inject_not_finite(
    inputs: Sequence[Input], arrays: Mapping[str, Array], sample: Sample
) -> dict[str, Array]:
    """Return the arrays with NaN, or infinities, in floats without a `range`."""
    odd = [np.nan] if sample.values is Values.WITH_NAN else [np.inf, -np.inf]
    made = dict(arrays)
    for position, entry in enumerate(inputs):
        array = arrays[entry.name]
        if takes_nan(entry) and array.size:
            rng = np.random.default_rng([sample.seed, position])
            chosen = rng.choice(odd, size=array.shape).astype(array.dtype)
            made[entry.name] = np.where(_missing(array.shape, rng), chosen, array)
    return made


def takes_nan(entry: Input) -> bool:
    """Return whether an input holds floats and declares no range, which would exclude NaN."""
    return entry.dtype in FLOATS and entry.range is None


def _missing(shape: tuple[int, ...], rng: np.random.Generator) -> Array:
    """Return which elements are missing: each row of the last dim by another pattern.

    Few or most of them at random, a gap at the beginning, at the end or inside, or all. At least
    one is.
    """
    length = shape[-1] if shape else 1
    count = int(np.prod(shape[:-1], dtype=np.int64))
    place = np.arange(length)
    pattern = ((np.arange(count) + rng.integers(_PATTERNS)) % _PATTERNS)[:, None]
    first, last = np.sort(rng.integers(0, length + 1, (2, count, 1)), axis=0)
    scattered = rng.random((count, length))
    found = np.select(
        [pattern == kind for kind in range(_PATTERNS - 1)],
        [
            scattered < _FEW,
            place < last,
            scattered < _MOST,
            place >= first,
            (place >= first) & (place < last),
        ],
        default=True,
    )
    found[rng.integers(count), rng.integers(length)] = True
    return np.asarray(found.reshape(shape))
