"""Seeks inputs that reach a goal: candidates first, then steps along gradients."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from modelexport_exporter.call.tensors import to_array
from modelexport_exporter.core.dims import DimSizes, distinct, sizes_of
from modelexport_exporter.core.sample import Sample, Values
from modelexport_exporter.sampling.draw import draw
from modelexport_exporter.verification.reference import EagerReference
from modelexport_exporter.verification.samples.sample_source import SampleSource
from modelexport_exporter.verification.samples.sizes import volume
from modelexport_exporter.verification.seeking.ascent import ascend
from modelexport_exporter.verification.seeking.beside import beside
from modelexport_exporter.verification.seeking.candidates import candidates
from modelexport_exporter.verification.seeking.found import Found
from modelexport_exporter.verification.seeking.goals import Goal

Array = NDArray[Any]
Arrays = Mapping[str, Array]

MOST_FOUND = 6
"""Samples that reach a goal, each of which is compared."""
SAMPLER_SEEDS = range(1000, 1032)
LARGEST_VOLUME = 1 << 18
"""Elements of the inputs of the sizes that are tried."""
LARGEST_STATE = 1 << 16
"""Elements of a parameter or buffer that an input is set to."""
FROM = (Values.NORMAL, Values.SMALL_INTEGERS, Values.LARGE)
"""Where steps along gradients begin."""


class Seeker:
    """Seeks samples for goals, with all that is known of a model's numbers."""

    def __init__(
        self,
        samples: SampleSource,
        reference: EagerReference,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Draw like `samples`, run `reference`; `clock`: in seconds."""
        self._samples = samples
        self._reference = reference
        self._clock = clock

    def seek(self, goal: Goal, seconds: float) -> list[Found]:
        """Return samples that reach the goal or a part of it, within the time."""
        until = self._clock() + seconds
        found: list[Found] = []
        for candidate in self.candidates():
            if not goal.is_open or len(found) == MOST_FOUND or self._clock() > until:
                break
            if self._reaches(goal, candidate.arrays):
                found.append(candidate)
        return found

    def seek_near(self, goal: Goal, of: Sequence[Arrays], seconds: float) -> list[Found]:
        """Return samples that reach the goal from inputs that were found before.

        Within the time at other sizes, and as long again with another element.
        """
        at_sizes = self._seek_among(self.at_sizes(of), goal, seconds)
        return [*at_sizes, *self._seek_among(self.beside(of), goal, seconds)]

    def _seek_among(self, candidates: Iterator[Found], goal: Goal, seconds: float) -> list[Found]:
        until = self._clock() + seconds
        found: list[Found] = []
        for candidate in candidates:
            if not goal.is_open or self._clock() > until:
                break
            if self._reaches(goal, candidate.arrays):
                found.append(candidate)
        return found

    def at_sizes(self, of: Sequence[Arrays]) -> Iterator[Found]:
        """Yield the inputs at other sizes, at which they are repeated or end earlier."""
        for sized in self.sizes() if of else ():
            for kept in of:
                moved = {
                    name: _repeated(kept[name], array.shape)
                    for name, array in sized.arrays.items()
                    if name in kept and kept[name].size
                }
                yield Found(sized.dims, {**sized.arrays, **moved})

    def beside(self, of: Sequence[Arrays]) -> Iterator[Found]:
        """Yield the inputs with another number in one element, the last inputs first."""
        spec = self._samples.spec
        for arrays in reversed(of) if self._samples.sampler is None else ():
            for changed in beside(spec.inputs, arrays, self._numbers):
                yield Found(sizes_of(spec.inputs, arrays), changed)

    @property
    def _numbers(self) -> tuple[float, ...]:
        """Return the numbers of the model's code and file."""
        injected = self._samples.injected
        return tuple(dict.fromkeys((*injected.named, *injected.constants)))

    def _reaches(self, goal: Goal, arrays: Mapping[str, Array]) -> bool:
        values = self._reference.values(arrays)
        try:
            with torch.inference_mode(), goal.watching():
                outputs = self._reference.call(values)
        except Exception:  # noqa: BLE001 - what the model refuses reaches nothing
            return False
        return goal.reaches(outputs)

    def candidates(self) -> Iterator[Found]:
        """Yield inputs that are likely to reach something, the cheapest first."""
        sizes = DimSizes.of(self._samples.spec)
        tried = distinct(sizes.captured, sizes.between, sizes.highest)
        if self._samples.sampler is not None:
            for own in tried:
                yield from self._from_sampler(own)
            return
        for own in tried[:2]:
            yield from self._drawn(own)
        for own in tried:
            for values in FROM:
                yield from self._ascending(own, values)

    def sizes(self) -> Iterator[Found]:
        """Yield ordinary inputs of many sizes, except very large ones."""
        for sample in self._samples.many_sizes():
            if volume(self._samples.spec.inputs, sample.dims) <= LARGEST_VOLUME:
                yield Found(dict(sample.dims), self._samples.arrays(sample))

    def _from_sampler(self, sizes: dict[str, int]) -> Iterator[Found]:
        for seed in SAMPLER_SEEDS:
            arrays = self._samples.arrays(Sample(sizes, Values.SAMPLER, seed))
            yield Found(sizes, arrays)

    def _drawn(self, sizes: dict[str, int]) -> Iterator[Found]:
        inputs = self._samples.spec.inputs
        for arrays in candidates(inputs, sizes, self._numbers, self._state()):
            yield Found(sizes, arrays)

    def _ascending(self, sizes: dict[str, int], values: Values) -> Iterator[Found]:
        inputs = self._samples.spec.inputs
        arrays = draw(inputs, Sample(sizes, values, 11))
        for moved in ascend(inputs, arrays, self._reference.call, self._reference.values):
            yield Found(sizes, moved)

    def _state(self) -> dict[str, Array]:
        """Return the small parameters and buffers, by name."""
        state = self._reference.state()
        small = {name: entry for name, entry in state.items() if entry.numel() <= LARGEST_STATE}
        return {name: to_array(entry) for name, entry in islice(small.items(), 64)}


def _repeated(array: Array, shape: tuple[int, ...]) -> Array:
    """Return an array of this shape, whose rows and columns are those of the other one by turns."""
    if array.shape == shape:
        return array
    places = (np.arange(size) % own for size, own in zip(shape, array.shape, strict=True))
    return np.asarray(array[np.ix_(*places)])
