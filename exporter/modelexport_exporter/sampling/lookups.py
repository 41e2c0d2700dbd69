"""Puts numbers into drawn arrays that look up given rows of tables, as many in a sample as fit."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from modelexport_api.spec import Input
from modelexport_exporter.core.carried import Carried
from modelexport_exporter.core.dims import concrete_shape
from modelexport_exporter.sampling.draw import range_of

Array = NDArray[Any]

NOWHERE = np.iinfo(np.int64).min
"""Instead of a number that does not exist."""


@dataclass(frozen=True)
class Numbers:
    """The numbers of one input that look up rows: shape (rows,), or (rows, columns)."""

    numbers: Carried
    by_row: bool = False
    """Whether a lookup needs a whole row of the last dim: a column is read."""
    column: int | None = None
    """The column that is read; None for all of them."""

    def places(self, shape: tuple[int, ...]) -> int:
        """Return how many lookups an array of this shape has."""
        size = math.prod(shape)
        return size // max(shape[-1], 1) if self.by_row and shape else size


@dataclass(frozen=True)
class Lookups:
    """The rows of one table that are looked up, the most different ones first."""

    table: str
    count: int
    """Number of rows to look up."""
    inputs: Mapping[str, Numbers]
    """The numbers that look them up, by input."""
    compared: bool = True
    """Whether the model has such a table, from which these rows differ; otherwise all are looked
    up."""
    known: bool = True
    """Whether it is known that these inputs look them up."""


def lookups_at_once(lookups: Lookups, inputs: Sequence[Input], dims: Mapping[str, int]) -> int:
    """Return how many rows a sample of these sizes looks up."""
    places = (
        lookups.inputs[entry.name].places(concrete_shape(entry, dims))
        for entry in inputs
        if entry.name in lookups.inputs
    )
    return min(places, default=0)


def within_range(lookups: Lookups, inputs: Sequence[Input]) -> Array:
    """Return which rows some numbers within the inputs' ranges look up, as booleans."""
    reached = np.ones(lookups.count, dtype=np.bool_)
    for entry in inputs:
        if entry.name in lookups.inputs:
            low, high = range_of(entry)
            numbers = lookups.inputs[entry.name].numbers
            inside = (numbers >= low) & (numbers <= high) & (numbers != NOWHERE)
            reached &= inside if inside.ndim == 1 else inside.any(axis=1)
    return reached


def look_up(
    inputs: Sequence[Input], arrays: Mapping[str, Array], lookups: Lookups, part: int
) -> dict[str, Array]:
    """Return the arrays of part `part` of the lookups: what no lookup needs is as it was drawn.

    All parts but the last one look up as many rows as fit.
    """
    shapes = [
        (lookups.inputs[e.name], arrays[e.name].shape) for e in inputs if e.name in lookups.inputs
    ]
    size = min((own.places(shape) for own, shape in shapes), default=0)
    filled = dict(arrays)
    for entry in inputs:
        own = lookups.inputs.get(entry.name)
        if own is not None:
            numbers = own.numbers[part * size : (part + 1) * size]
            filled[entry.name] = _fill(arrays[entry.name], own, numbers, range_of(entry))
    return filled


def _fill(array: Array, own: Numbers, numbers: Array, limits: tuple[float, float]) -> Array:
    filled = array.copy()
    width = array.shape[-1] if own.by_row and array.ndim else 1
    rows = filled.reshape(-1, width)[: len(numbers)]
    if own.column is not None and -width <= own.column < width:
        rows = rows[:, own.column : own.column + 1 or None]
    wanted = numbers if numbers.ndim > 1 else numbers[:, None]
    if wanted.shape[1] not in {1, rows.shape[1]}:
        return array
    inside = (wanted >= limits[0]) & (wanted <= limits[1]) & (wanted != NOWHERE)
    # Not by an assignment of int64 to all: what is outside does not fit into the dtype.
    rows[...] = np.where(inside, np.where(inside, wanted, 0).astype(array.dtype), rows)
    return filled
