"""Masks of rows: which elements of a row a model attends to, or which are padding.

A row of its last dim that keeps nothing is no input of such a model: attention over nothing is NaN,
and torch.nn.TransformerEncoder refuses it. Rows are drawn as users have them: whole, padded on the
right, padded on the left, with gaps.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from modelexport_api.spec import Input, InputKind
from modelexport_exporter.core.dims import concrete_shape
from modelexport_exporter.core.sample import Sample, Values

Array = NDArray[Any]

KEPT = {InputKind.ATTENTION_MASK: True, InputKind.PADDING_MASK: False}
"""The value of the elements that the model looks at, by the kind of mask."""
_KINDS_OF_ROWS = 4
_ONE_KEPT = frozenset({Values.ZEROS, Values.LOWEST, Values.ONE_HOT})
_ALL_KEPT = frozenset({Values.HIGHEST, Values.CONSTANT})


def is_mask(entry: Input) -> bool:
    """Return whether an input is declared as a mask."""
    return entry.kind in KEPT


def draw_mask(entry: Input, sample: Sample, rng: np.random.Generator) -> Array:
    """Return a mask of booleans with an element that is kept in each row."""
    shape = concrete_shape(entry, sample.dims)
    kept = _kept_rows(int(np.prod(shape[:-1])), shape[-1], sample, rng)
    return np.equal(kept, KEPT[entry.kind]).reshape(shape)


def _kept_rows(count: int, length: int, sample: Sample, rng: np.random.Generator) -> Array:
    """Return which elements are kept, [count, length]."""
    places = np.arange(length)
    if sample.values in _ALL_KEPT or not length:
        return np.ones((count, length), bool)
    if sample.values in _ONE_KEPT:
        return np.asarray(places == np.arange(count)[:, None] % length)
    lengths = rng.integers(1, length, (count, 1), endpoint=True)
    scattered = rng.integers(0, 2, (count, length)) == 1
    scattered[np.arange(count), rng.integers(0, length, count)] = True
    kinds = [
        places < lengths,
        places >= length - lengths,
        scattered,
        np.ones((count, length), bool),
    ]
    kind = (np.arange(count) + sample.seed) % _KINDS_OF_ROWS
    return np.choose(kind[:, None], kinds)


def masks_hold(inputs: Sequence[Input], arrays: Mapping[str, Array]) -> bool:
    """Return whether masks hold nothing but 0 and 1, and each of their rows keeps an element."""
    return all(_holds(arrays[entry.name], KEPT[entry.kind]) for entry in inputs if is_mask(entry))


def _holds(mask: Array, kept: bool) -> bool:
    if not mask.size:
        return True
    return bool(np.isin(mask, (0, 1)).all() and ((mask != 0) == kept).any(-1).all())
