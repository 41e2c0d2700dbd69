"""Ways to move the elements of the inputs: each alone, or many together.

A rule about a mean of 768 numbers is met by moving all of them; a rule about one row among 200 by
moving those elements that have an effect on it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from modelexport_api.spec import Input
from modelexport_exporter.sampling.draw import FLOATS, range_of

Array = NDArray[Any]
Arrays = Mapping[str, Array]
Directions = Callable[[Arrays], "Sequence[Direction]"]
"""Returns ways to move these inputs."""
Measure = Callable[[Arrays], Array]
"""Returns what is to be moved, of shape [requirements]."""

MOST_ALONE = 64
"""Elements that are moved alone: each costs a run in every step."""
MOST_SLICES = 8
"""Parts of one dim that are moved as blocks."""
LEAST_WEIGHT = 0.02
"""Of an element at the end of its range."""
TRIED = 8
"""Elements of an input that are tried first: where all have an effect, it is not halved."""


@dataclass(frozen=True)
class Direction:
    """Elements of one input that move together, within the range of the input."""

    name: str
    elements: Array
    """Their places in the flat array, int64."""
    weights: Array
    """How far each moves by a step of 1, float64."""
    low: float
    high: float
    whole: bool
    """Whether the input holds integers."""

    @classmethod
    def of(cls, entry: Input, elements: Array, weights: Array | None = None) -> Direction:
        """Return a direction of an input; without weights all elements move alike."""
        low, high = range_of(entry)
        own = np.ones(len(elements)) if weights is None else weights
        return cls(entry.name, elements, own, low, high, entry.dtype not in FLOATS)

    @property
    def first(self) -> Direction:
        """Return the first element alone, which moves by 1."""
        return replace(self, elements=self.elements[:1], weights=np.sign(self.weights[:1]))

    def moved(self, array: Array, step: float) -> Array:
        """Return a copy of the input that is moved by a step, and held in its range."""
        flat = array.astype(np.float64).reshape(-1)
        own = flat[self.elements] + step * self.weights
        made = array.copy()
        made.reshape(-1)[self.elements] = np.clip(own, self.low, self.high).astype(array.dtype)
        return made

    def probed(self, array: Array, step: float) -> tuple[Array, float] | None:
        """Return the input moved by a step, or back at the end of the range, and the step.

        None where it cannot move. Of one element the step is what it really moved by; of a block,
        some elements of which may be at the end, it is as planned.
        """
        for tried in (step, -step):
            moved = self.moved(array, tried)
            before, after = (own.reshape(-1)[self.elements] for own in (array, moved))
            if (before != after).any():
                alone = float(after[0]) - float(before[0])
                return moved, tried if len(self.elements) > 1 else alone
        return None

    def is_held(self, array: Array, step: float) -> bool:
        """Return whether all elements are at the end of the range that the step goes to."""
        own, towards = array.reshape(-1)[self.elements], step * self.weights
        return bool(np.where(towards < 0, own <= self.low, own >= self.high).all())


def single_elements(inputs: Sequence[Input], arrays: Arrays) -> list[Direction]:
    """Return a direction for each element of all inputs."""
    return [
        Direction.of(entry, np.array([place]))
        for entry in inputs
        for place in range(arrays[entry.name].size)
    ]


def effective(inputs: Sequence[Input], arrays: Arrays, measure: Measure) -> Directions:
    """Return the elements that have an effect on what is measured, or blocks if they are many.

    Raises whatever `measure` raises for these arrays.
    """
    if sum(arrays[entry.name].size for entry in inputs) <= MOST_ALONE:
        return always(single_elements(inputs, arrays))
    search = _Search(arrays, measure, measure(arrays))
    found: list[Direction] = []
    for entry in inputs:
        if arrays[entry.name].size > MOST_ALONE and search.is_dense(entry):
            return partial(blocks, inputs)
        found += [Direction.of(entry, np.array([place])) for place in search.elements_of(entry)]
        if len(found) > MOST_ALONE:
            return partial(blocks, inputs)
    return always(found)


def always(directions: Sequence[Direction]) -> Directions:
    """Return the same directions for all inputs."""
    return lambda _arrays: directions


@dataclass
class _Search:
    """Halves the elements of an input until those are left that have an effect."""

    arrays: Arrays
    measure: Measure
    before: Array

    def is_dense(self, entry: Input) -> bool:
        """Return whether each of a few elements has an effect."""
        size = self.arrays[entry.name].size
        chosen = np.random.default_rng(0).choice(size, TRIED, replace=False)
        return all(self._has_effect(entry, place[None], np.ones(1)) for place in chosen)

    def elements_of(self, entry: Input) -> list[int]:
        """Return the elements that have an effect, or MOST_ALONE and one more."""
        size = self.arrays[entry.name].size
        steps = np.random.default_rng(0).uniform(1, 3, size)
        found: list[int] = []
        parts = [np.arange(size)] if size else []
        while parts and len(found) <= MOST_ALONE:
            part = parts.pop()
            if not self._has_effect(entry, part, steps[part]):
                continue
            if len(part) == 1:
                found.append(int(part[0]))
            else:
                parts += [part[len(part) // 2 :], part[: len(part) // 2]]
        return found

    def _has_effect(self, entry: Input, part: Array, steps: Array) -> bool:
        """Return whether moving these elements, each by another step, changes anything."""
        whole = entry.dtype not in FLOATS
        direction = Direction.of(entry, part, np.round(steps) if whole else steps)
        for step in (1.0, -1.0):
            moved = direction.moved(self.arrays[entry.name], step)
            try:
                after = self.measure({**self.arrays, entry.name: moved})
            except LookupError:  # another path through the model's code: an effect
                return True
            if not np.array_equal(after, self.before, equal_nan=True):
                return True
        return False


def blocks(inputs: Sequence[Input], arrays: Arrays) -> list[Direction]:
    """Return parts of each input along each of its dims, the whole input, and its contrast."""
    return [block for entry in inputs for block in _blocks_of(entry, arrays[entry.name])]


def _blocks_of(entry: Input, array: Array) -> Iterator[Direction]:
    if not array.size:
        return
    places = np.arange(array.size).reshape(array.shape)
    weights = _room(entry, array.reshape(-1))
    yield Direction.of(entry, places.reshape(-1), weights)
    for axis, size in enumerate(array.shape):
        if size > 1:
            for part in np.array_split(places, min(size, MOST_SLICES), axis=axis):
                yield Direction.of(entry, part.reshape(-1), weights[part.reshape(-1)])
    apart = array.astype(np.float64).reshape(-1)
    apart -= apart.mean()
    if entry.dtype in FLOATS and np.isfinite(apart).all() and apart.any():
        yield Direction.of(entry, places.reshape(-1), apart / np.abs(apart).max())


def _room(entry: Input, values: Array) -> Array:
    """Return weights: less for floats near an end of their range, which would be cut off there."""
    if entry.dtype not in FLOATS or entry.range is None:
        return np.ones(len(values))
    low, high = range_of(entry)
    share = np.minimum(values - low, high - values) / ((high - low) / 2 or 1.0)
    return np.clip(share.astype(np.float64), LEAST_WEIGHT, 1.0)
