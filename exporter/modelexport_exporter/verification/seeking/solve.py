"""Solves for inputs of which the elements of some comparisons are as required: Newton's method.

The derivatives are differences of two runs, so that integers, tables and steps are moved like
floats. It is for models that run in microseconds on few numbers; `ascent` is for networks.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from modelexport_exporter.verification.seeking.conditions import (
    OtherPathError,
    Requirement,
    difference,
)
from modelexport_exporter.verification.seeking.directions import Direction, Directions, Measure
from modelexport_exporter.verification.seeking.recorded_conditions import MARGIN, Condition

Array = NDArray[Any]
Arrays = Mapping[str, Array]
Run = Callable[[Arrays], Sequence[Condition]]
"""Returns the conditions of a run; raises what the model raises."""

STEPS = 24
REUSED_WITHIN = 0.5
"""Derivatives are used again while a step halves the distance."""
MOVE = 1e-3
"""How far a float is moved for a derivative, relative to it."""
FARTHER = (1.0, 64.0, 4096.0, 262144.0)
"""By which factors more, where that has no effect."""
NEAR = 1e-4
"""How near to equal two operands are, relative to them, before decimals are dropped."""
DECIMALS = (0, 1, 2, 3)
STRICT = {"gt": 1.0, "lt": -1.0, "ge": 1.0, "le": -1.0, "above": 1.0, "below": -1.0}
"""On which side of its edge the difference has to be."""


def solve(
    run: Run, start: Arrays, ways: Directions, wanted: Sequence[Requirement]
) -> dict[str, Array] | None:
    """Return inputs that fulfil all requirements; None if none is found.

    Raises OtherPathError if a run takes another path than `wanted` is of.
    """
    arrays = {name: array.copy() for name, array in start.items()}
    active: set[int] = set()
    tangent, far = None, math.inf
    for _step in range(STEPS):
        found = _differences(run, arrays, wanted)
        broken = [place for place, own in enumerate(wanted) if not _holds(own, *found[place])]
        if not broken:
            return arrays
        before, far = far, _distance(wanted, found, broken)
        if tangent is None or far > REUSED_WITHIN * before or not tangent.moves(broken):
            tangent = _tangent(differences_of(run, wanted), arrays, ways(arrays), broken)
        if all(_is_nearly_equal(own, *one) for own, one in zip(wanted, found, strict=True)):
            neat = _neat(run, arrays, tangent.directions, wanted)
            if neat is not None:
                return neat
        active.update(broken)
        rows = sorted(active)
        missing = np.array(
            [_missing(wanted[place], *found[place]) if place in broken else 0.0 for place in rows]
        )
        moved = (
            _move(arrays, tangent.directions, tangent.slopes[rows], missing)
            if far < before
            else _move_one(arrays, tangent, {row: missing[rows.index(row)] for row in broken})
        )
        if not moved:
            return None
    return None


@dataclass(frozen=True)
class _Tangent:
    """The derivatives at some inputs: one run for each direction."""

    directions: Sequence[Direction]
    slopes: Array
    """float64 [requirements, directions]"""

    def moves(self, rows: Sequence[int]) -> bool:
        """Return whether some direction has an effect on each of these requirements."""
        return bool(self.slopes[rows].any(axis=1).all())


def _distance(
    wanted: Sequence[Requirement], found: Sequence[tuple[float, float]], broken: Sequence[int]
) -> float:
    """Return how far the broken requirements are from being fulfilled, relative to the operands."""
    return sum(
        abs(_missing(wanted[place], *found[place])) / (found[place][1] or 1.0) for place in broken
    )


def _neat(
    run: Run, arrays: Arrays, directions: Sequence[Direction], wanted: Sequence[Requirement]
) -> dict[str, Array] | None:
    """Return the inputs with few decimals, if these fulfil all: few floats are equal to a number.

    75 * 15 / 250 is exactly 4.5, and the floats next to 75 give something else. What is missing
    after rounding is given to one input: 3.6 + 6.4 is 10, and 4 + 6 is, too.
    """
    for decimals in DECIMALS:
        neat = {name: array.copy() for name, array in arrays.items()}
        for direction in directions:
            _round(neat, direction, decimals)
        for _again in range(2):
            found = _differences(run, neat, wanted)
            if all(_holds(own, *one) for own, one in zip(wanted, found, strict=True)):
                return neat
            row = [_holds(own, *one) for own, one in zip(wanted, found, strict=True)].index(False)
            slopes = _tangent(differences_of(run, wanted), neat, directions, [row]).slopes[row]
            place = int(np.abs(slopes).argmax())
            if not slopes[place]:
                break
            one = directions[place]
            neat[one.name] = one.moved(neat[one.name], -found[row][0] / slopes[place])
            _round(neat, one, decimals)
    return None


def _round(arrays: dict[str, Array], direction: Direction, decimals: int) -> None:
    flat = arrays[direction.name].reshape(-1)
    own = np.round(flat[direction.elements].astype(np.float64), decimals)
    flat[direction.elements] = np.clip(own, direction.low, direction.high)


def _differences(
    run: Run, arrays: Arrays, wanted: Sequence[Requirement]
) -> list[tuple[float, float]]:
    conditions = run(arrays)
    return [difference(conditions, own) for own in wanted]


def differences_of(run: Run, wanted: Sequence[Requirement]) -> Measure:
    """Return a function from inputs to left minus right of each requirement."""
    return lambda arrays: np.array(_differences(run, arrays, wanted))[:, 0]


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


def _tangent(
    measure: Measure, arrays: Arrays, directions: Sequence[Direction], rows: Sequence[int]
) -> _Tangent:
    """Return the derivatives of what `measure` returns.

    Where no direction has an effect on one of these rows, as on a quotient of integers, the steps
    are longer.
    """
    before = measure(arrays)
    slopes = np.zeros((len(before), len(directions)))
    for farther in FARTHER:
        flat = np.logical_not(np.any(slopes, axis=1))
        if flat[list(rows)].any():
            found = _slopes_by(farther, measure, arrays, directions, before)
            slopes[flat] = found[flat]
    return _Tangent(directions, slopes)


def _slopes_by(
    farther: float,
    measure: Measure,
    arrays: Arrays,
    directions: Sequence[Direction],
    before: Array,
) -> Array:
    slopes = np.zeros((len(before), len(directions)))
    for place, direction in enumerate(directions):
        kept = arrays[direction.name]
        own = float(np.abs(kept.reshape(-1)[direction.elements]).max())
        step = farther * (1.0 if direction.whole else MOVE * max(own, 1.0))
        probed = direction.probed(kept, step)
        if probed is None:
            continue
        moved, distance = probed
        try:
            after = measure({**arrays, direction.name: moved})
        except OtherPathError:
            continue
        slopes[:, place] = (after - before) / distance
    return np.nan_to_num(slopes, posinf=0.0, neginf=0.0)


def _move(
    arrays: dict[str, Array], directions: Sequence[Direction], slopes: Array, missing: Array
) -> bool:
    """Move the inputs by the least change that closes the gaps; return whether anything moved."""
    free = np.ones(len(directions), dtype=bool)
    steps = np.zeros(len(directions))
    for _again in range(3):
        steps[:] = 0.0
        if not free.any() or not np.isfinite(missing).all():
            return False
        steps[free] = np.linalg.lstsq(slopes[:, free], missing, rcond=1e-9)[0]
        held = np.array(
            [
                bool(step) and one.is_held(arrays[one.name], step)
                for one, step in zip(directions, steps, strict=True)
            ]
        )
        if not held.any():
            break
        free &= ~held
    return _apply(arrays, directions, steps)


def rounded(values: Array) -> Array:
    """Return whole numbers near to these, whose sum is near to theirs.

    50 numbers that go up by 0.1 each would all stay; five of them go up by 1.
    """
    whole = np.floor(values)
    up = int(np.round((values - whole).sum()))
    largest = np.argsort(whole - values, kind="stable")[:up]
    whole[largest] += 1
    return whole


def _move_one(arrays: dict[str, Array], tangent: _Tangent, missing: Mapping[int, float]) -> bool:
    """Move one input for the requirement that has the least derivatives; return whether it moved.

    For t // 1440 this is a whole number of days, which leaves t % 1440 as it is.
    """
    steepest = np.abs(tangent.slopes).max(axis=1)
    row = min(missing, key=lambda place: float(steepest[place]) or math.inf)
    place = int(np.abs(tangent.slopes[row]).argmax())
    slopes = tangent.slopes[row : row + 1, place : place + 1]
    return _move(arrays, tangent.directions[place : place + 1], slopes, np.array([missing[row]]))


def _apply(arrays: dict[str, Array], directions: Sequence[Direction], steps: Array) -> bool:
    """Write the moved values; integers are rounded, at least one away from where it was."""
    before = {name: array.copy() for name, array in arrays.items()}
    moved = {name: array.astype(np.float64).reshape(-1) for name, array in arrays.items()}
    used = [(one, float(step)) for one, step in zip(directions, steps, strict=True) if step]
    for direction, step in used:
        moved[direction.name][direction.elements] += step * direction.weights
    for name, one in {direction.name: direction for direction, _step in used}.items():
        places = [direction.elements for direction, _step in used if direction.name == name]
        elements = np.unique(np.concatenate(places))
        own = np.clip(moved[name][elements], one.low, one.high)
        arrays[name].reshape(-1)[elements] = rounded(own) if one.whole else own
    if used and all((arrays[name] == array).all() for name, array in before.items()):
        direction, step = max(used, key=lambda pair: abs(pair[1]))
        one = direction.first
        arrays[one.name] = one.moved(arrays[one.name], float(np.sign(step)))
    return any((arrays[name] != array).any() for name, array in before.items())
