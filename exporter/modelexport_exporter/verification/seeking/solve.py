"""Solves for inputs of which the elements of some comparisons are as required: Newton's method.

The derivatives are differences of two runs, so that integers, tables and steps are moved like
floats. It is for models that run in microseconds on few numbers; `ascent` is for networks.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from modelexport_exporter.verification.seeking.conditions import (
    MARGIN,
    OtherPathError,
    Requirement,
    difference,
)
from modelexport_exporter.verification.seeking.recorded_conditions import Condition

Array = NDArray[Any]
Arrays = Mapping[str, Array]
Run = Callable[[Arrays], Sequence[Condition]]
"""Returns the conditions of a run; raises what the model raises."""

MOST_ELEMENTS = 64
"""Of all inputs together: each is moved alone in every step."""
STEPS = 12
MOVE = 1e-3
"""How far a float is moved for a derivative, relative to it."""
FARTHER = (1.0, 64.0, 4096.0, 262144.0)
"""By which factors more, where that has no effect."""
NEAR = 1e-4
"""How near to equal two operands are, relative to them, before decimals are dropped."""
DECIMALS = (0, 1, 2, 3)
STRICT = {"gt": 1.0, "lt": -1.0, "ge": 1.0, "le": -1.0, "above": 1.0, "below": -1.0}
"""On which side of its edge the difference has to be."""


@dataclass(frozen=True)
class Variable:
    """One element of one input, and where it may lie."""

    name: str
    element: int
    low: float
    high: float
    whole: bool


def solve(
    run: Run, start: Arrays, variables: Sequence[Variable], wanted: Sequence[Requirement]
) -> dict[str, Array] | None:
    """Return inputs that fulfil all requirements; None if none is found.

    Raises OtherPathError if a run takes another path than `wanted` is of.
    """
    arrays = {name: array.copy() for name, array in start.items()}
    active: set[int] = set()
    for _step in range(STEPS):
        found = _differences(run, arrays, wanted)
        broken = {place for place, own in enumerate(wanted) if not _holds(own, *found[place])}
        if not broken:
            return arrays
        if all(_is_nearly_equal(own, *one) for own, one in zip(wanted, found, strict=True)):
            neat = _neat(run, arrays, variables, wanted)
            if neat is not None:
                return neat
        active |= broken
        rows = sorted(active)
        measure = partial(_values, run, [wanted[place] for place in rows])
        before = np.array([found[place][0] for place in rows])
        slopes = _slopes(measure, arrays, variables, before)
        missing = np.array(
            [_missing(wanted[place], *found[place]) if place in broken else 0.0 for place in rows]
        )
        if not _move(arrays, variables, slopes, missing):
            return None
    return None


def _neat(
    run: Run, arrays: Arrays, variables: Sequence[Variable], wanted: Sequence[Requirement]
) -> dict[str, Array] | None:
    """Return the inputs with few decimals, if these fulfil all: few floats are equal to a number.

    75 * 15 / 250 is exactly 4.5, and the floats next to 75 give something else.
    """
    for decimals in DECIMALS:
        rounded = {name: array.copy() for name, array in arrays.items()}
        for variable in variables:
            flat = rounded[variable.name].reshape(-1)
            value = round(float(flat[variable.element]), decimals)
            flat[variable.element] = flat.dtype.type(min(max(value, variable.low), variable.high))
        found = _differences(run, rounded, wanted)
        if all(_holds(own, *one) for own, one in zip(wanted, found, strict=True)):
            return rounded
    return None


def _differences(
    run: Run, arrays: Arrays, wanted: Sequence[Requirement]
) -> list[tuple[float, float]]:
    conditions = run(arrays)
    return [difference(conditions, own) for own in wanted]


def _values(run: Run, wanted: Sequence[Requirement], arrays: Arrays) -> Array:
    return np.array(_differences(run, arrays, wanted))[:, 0]


def _holds(wanted: Requirement, value: float, magnitude: float) -> bool:
    return {
        "above": 0 < value <= 2 * MARGIN * magnitude,
        "below": 0 < -value <= 2 * MARGIN * magnitude,
        "gt": value > 0,
        "lt": value < 0,
        "ge": value >= 0,
        "le": value <= 0,
        "eq": value == 0,
        "ne": value != 0,
    }[wanted.op]


def _is_nearly_equal(wanted: Requirement, value: float, magnitude: float) -> bool:
    return wanted.op == "eq" and abs(value) <= NEAR * magnitude


def _missing(wanted: Requirement, value: float, magnitude: float) -> float:
    """Return by how much the difference has to change."""
    side = STRICT.get(wanted.op, 1.0 if wanted.op == "ne" else 0.0)
    beyond = side * max(MARGIN * magnitude, 1e-30)
    return beyond - value


def _slopes(
    measure: Callable[[Arrays], Array],
    arrays: Arrays,
    variables: Sequence[Variable],
    before: Array,
) -> Array:
    """Return the derivatives of what `measure` returns, of shape [requirements, variables].

    `before`: what it returns for these arrays. Where none of the variables has an effect, as on a
    quotient of integers, they move farther.
    """
    slopes = np.zeros((len(before), len(variables)))
    for farther in FARTHER:
        flat = ~slopes.any(axis=1)
        if flat.any():
            found = _slopes_by(farther, measure, arrays, variables, before)
            slopes[flat] = found[flat]
    return slopes


def _slopes_by(
    farther: float,
    measure: Callable[[Arrays], Array],
    arrays: Arrays,
    variables: Sequence[Variable],
    before: Array,
) -> Array:
    slopes = np.zeros((len(before), len(variables)))
    for place, variable in enumerate(variables):
        flat = arrays[variable.name].reshape(-1)
        kept = flat[variable.element]
        step = farther * (1.0 if variable.whole else MOVE * max(abs(float(kept)), 1.0))
        if float(kept) + step > variable.high:
            step = -step
        if not variable.low <= float(kept) + step <= variable.high:
            continue
        flat[variable.element] = kept + flat.dtype.type(step)
        moved = float(flat[variable.element]) - float(kept)
        try:
            after = measure(arrays)
        except OtherPathError:
            continue
        finally:
            flat[variable.element] = kept
        if moved:
            slopes[:, place] = (after - before) / moved
    return np.nan_to_num(slopes, posinf=0.0, neginf=0.0)


def _move(
    arrays: dict[str, Array], variables: Sequence[Variable], slopes: Array, missing: Array
) -> bool:
    """Move the inputs by the least change that closes the gaps; return whether anything moved."""
    free = np.ones(len(variables), dtype=bool)
    values = np.array([float(arrays[v.name].reshape(-1)[v.element]) for v in variables])
    low = np.array([variable.low for variable in variables])
    high = np.array([variable.high for variable in variables])
    for _again in range(3):
        change = np.zeros(len(variables))
        if not free.any() or not np.isfinite(missing).all():
            return False
        change[free] = np.linalg.lstsq(slopes[:, free], missing, rcond=1e-9)[0]
        held = free & (((values <= low) & (change < 0)) | ((values >= high) & (change > 0)))
        if not held.any():
            break
        free &= ~held
    return _apply(arrays, variables, values, np.clip(values + change, low, high))


def _apply(
    arrays: dict[str, Array], variables: Sequence[Variable], values: Array, moved: Array
) -> bool:
    """Write the moved values; integers are rounded, at least one away from where it was."""
    whole = np.array([variable.whole for variable in variables])
    rounded = np.where(whole, np.round(moved), moved)
    change = np.abs(moved - values)
    if (rounded == values).all() and change.max(initial=0.0) > 0:
        place = int(change.argmax())
        rounded[place] = values[place] + np.sign(moved[place] - values[place])
    for variable, value, before in zip(variables, rounded, values, strict=True):
        if value != before:
            flat = arrays[variable.name].reshape(-1)
            flat[variable.element] = flat.dtype.type(value)
    return bool((rounded != values).any())
