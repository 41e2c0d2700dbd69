"""Inputs that reach a side of a condition of eager PyTorch that no sample reached.

A rule that few rows fulfil may be missing in the file, and then none of its numbers is in it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from numpy.typing import NDArray

from modelexport_api.spec import Input
from modelexport_exporter.core.dims import DimSizes, distinct
from modelexport_exporter.core.sample import Sample, Values
from modelexport_exporter.core.types import SampleComparison
from modelexport_exporter.sampling.draw import FLOATS, draw, range_of
from modelexport_exporter.verification.reference import EagerReference
from modelexport_exporter.verification.samples.sample_source import SampleSource
from modelexport_exporter.verification.samples.sizes import volume
from modelexport_exporter.verification.seeking.conditions import (
    Requirement,
    Seen,
    Wish,
    elements_near,
    ways_to,
)
from modelexport_exporter.verification.seeking.recorded_conditions import Condition, record
from modelexport_exporter.verification.seeking.seek import Found
from modelexport_exporter.verification.seeking.solve import MOST_ELEMENTS, Variable, solve

Array = NDArray[Any]
Arrays = Mapping[str, Array]

SECONDS, SHARE = 1.0, 0.2
"""For all conditions, and the part of it that one takes at most."""
REPLAYS, REPLAY_SECONDS = 24, 0.25
"""How many of the samples run again to see which conditions they met, and for how long."""
QUICK_SECONDS = 0.005
"""A run may take so long: a condition is solved for in some hundred runs."""
STARTS = ((Values.NORMAL, 5), (Values.NORMAL, 6), (Values.POSITIVE, 7))


class UnmetConditions:
    """Seeks samples for the conditions that others did not meet."""

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
        self._seen = Seen()

    def seek(
        self, results: Sequence[SampleComparison], ended: Callable[[], bool]
    ) -> Iterator[Found]:
        """Yield inputs that meet a condition for the first time, within the time, until `ended`."""
        if self._samples.sampler is not None or ended():
            return
        self._replay(results)
        until = self._clock() + SECONDS
        for wish in self._seen.missing():
            at_most = min(until, self._clock() + SECONDS * SHARE)
            found = next(self._fulfilling(wish, at_most), None)
            if found is not None:
                self._seen.add(self._run(found.arrays))
                yield found
            if ended() or self._clock() > until:
                return

    def _replay(self, results: Sequence[SampleComparison]) -> None:
        """Note which conditions the samples met; nothing if the model is slow, or has none."""
        inputs = self._samples.spec.inputs
        drawn = [result for result in results if result.values is not Values.SOUGHT]
        ordered = sorted(drawn, key=lambda result: volume(inputs, result.dims))
        until = self._clock() + REPLAY_SECONDS
        for result in ordered[:: max(1, len(ordered) // REPLAYS)]:
            started = self._clock()
            sample = Sample(dict(result.dims), result.values, result.seed)
            conditions = self._quietly(self._samples.arrays(sample))
            if self._clock() > until:
                break
            if not self._seen.sides and self._clock() - started > QUICK_SECONDS:
                return
            self._seen.add(conditions)
            if not self._seen.sides:
                return

    def _fulfilling(self, wish: Wish, until: float) -> Iterator[Found]:
        """Yield inputs that fulfil the wish."""
        for sizes in self._sizes():
            for values, seed in STARTS:
                if self._clock() > until:
                    return
                start = draw(self._samples.spec.inputs, Sample(sizes, values, seed))
                found = self._from(start, wish)
                if found is not None and self._reference.accepts(found):
                    yield Found(sizes, found)

    def _from(self, start: dict[str, Array], wish: Wish) -> dict[str, Array] | None:
        conditions = self._quietly(start)
        if not _has(conditions, wish):
            return None
        variables = variables_of(self._samples.spec.inputs, start)
        for element in elements_near(conditions, wish):
            for way in ways_to(conditions, wish, element):
                found = self._solve(start, variables, way)
                if found is not None:
                    return found
        return None

    def _solve(
        self, start: Arrays, variables: Sequence[Variable], way: Sequence[Requirement]
    ) -> dict[str, Array] | None:
        try:
            return solve(self._run, start, variables, way)
        except Exception:  # noqa: BLE001 - forward is the user's code, or took another path
            return None

    def _sizes(self) -> list[dict[str, int]]:
        """Return sizes at which each number of the inputs can be moved alone."""
        sizes = DimSizes.of(self._samples.spec)
        inputs = self._samples.spec.inputs
        tried = distinct(sizes.lowest, sizes.captured)
        return [own for own in tried if 0 < volume(inputs, own) <= MOST_ELEMENTS]

    def _run(self, arrays: Arrays) -> list[Condition]:
        values = self._reference.values(arrays)
        return record(lambda: self._reference.call(values))

    def _quietly(self, arrays: Arrays) -> list[Condition]:
        try:
            return self._run(arrays)
        except Exception:  # noqa: BLE001 - forward is the user's code
            return []


def variables_of(inputs: Sequence[Input], arrays: Arrays) -> list[Variable]:
    """Return the elements of all inputs, each within its range."""
    made = []
    for entry in inputs:
        low, high = range_of(entry)
        whole = entry.dtype not in FLOATS
        size = arrays[entry.name].size
        made += [Variable(entry.name, place, low, high, whole) for place in range(size)]
    return made


def _has(conditions: Sequence[Condition], wish: Wish) -> bool:
    """Return whether a run came to the condition of the wish."""
    return wish.place < len(conditions) and conditions[wish.place].op == wish.name
