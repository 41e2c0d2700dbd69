"""Inputs that reach a side of a condition of eager PyTorch that no sample reached.

A rule that few rows fulfil may be missing in the file, and then none of its numbers is in it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import torch
from numpy.typing import NDArray

from modelexport_exporter.core.comparison import SampleComparison
from modelexport_exporter.core.dims import DimSizes, distinct
from modelexport_exporter.core.sample import Sample, Values
from modelexport_exporter.sampling.draw import draw
from modelexport_exporter.verification.reference import EagerReference
from modelexport_exporter.verification.samples.sample_source import SampleSource
from modelexport_exporter.verification.samples.sizes import volume
from modelexport_exporter.verification.seeking.conditions import (
    Requirement,
    Seen,
    Wish,
    elements_near,
)
from modelexport_exporter.verification.seeking.directions import MOST_ALONE, effective
from modelexport_exporter.verification.seeking.found import Found
from modelexport_exporter.verification.seeking.recorded_conditions import Condition, record
from modelexport_exporter.verification.seeking.solve import differences_of, solve
from modelexport_exporter.verification.seeking.ways import ways_to

Array = NDArray[Any]
Arrays = Mapping[str, Array]

SECONDS, AT_MOST = 2.5, 0.4
"""For all conditions, and for one from one start."""
REPLAYS, REPLAY_SECONDS = 24, 0.25
"""How many of the samples run again to see which conditions they met, and for how long."""
FIRST, QUICK_SECONDS = 3, 0.005
"""The fastest of the first runs may take so long: a condition takes some hundred runs."""
MOST_NUMBERS = 1 << 14
"""Of all inputs: above this, no condition is solved for."""
MOST_KEPT, MOST_KEPT_ELEMENTS = 512, 1 << 14
"""Runs that are remembered, of so many elements of conditions."""
STARTS = tuple(
    (values, seed) for seed in range(5, 13) for values in (Values.NORMAL, Values.POSITIVE)
)
"""What is moved: all conditions from the same start, which is run only once, then the next."""


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
        self._until = 0.0
        self._runs: dict[bytes, list[Condition]] = {}
        """By the bytes of the inputs: all conditions are solved for from the same starts."""

    def seek(
        self, results: Sequence[SampleComparison], ended: Callable[[], bool]
    ) -> Iterator[Found]:
        """Yield inputs that meet a condition for the first time, within the time, until `ended`."""
        if self._samples.sampler is not None or ended():
            return
        with one_thread():
            self._replay(results)
        until = self._clock() + SECONDS
        starts = [(sizes, values, seed) for values, seed in STARTS for sizes in self._sizes()]
        for number, (sizes, values, seed) in enumerate(starts):
            start = draw(self._samples.spec.inputs, Sample(sizes, values, seed))
            for wish in self._seen.missing(near=number == 0):
                if ended() or self._clock() > until:
                    return
                self._until = min(until, self._clock() + AT_MOST)
                with one_thread():
                    found = self._from(start, wish)
                if found is not None:
                    yield Found(sizes, found)

    def _replay(self, results: Sequence[SampleComparison]) -> None:
        """Note which conditions the samples met; nothing if the model is slow, or has none."""
        inputs = self._samples.spec.inputs
        drawn = [result for result in results if result.values is not Values.SOUGHT]
        ordered = sorted(drawn, key=lambda result: volume(inputs, result.dims))
        until, durations = self._clock() + REPLAY_SECONDS, list[float]()
        for result in ordered[:: max(1, len(ordered) // REPLAYS)]:
            started = self._clock()
            sample = Sample(dict(result.dims), result.values, result.seed)
            conditions = self._quietly(self._samples.arrays(sample))
            if self._clock() > until:
                break
            durations.append(self._clock() - started)
            if len(durations) == FIRST and min(durations) > QUICK_SECONDS:
                self._seen = Seen()
                return
            self._seen.add(conditions)
            if not self._seen.sides:
                return

    def _from(self, start: dict[str, Array], wish: Wish) -> dict[str, Array] | None:
        """Return inputs that fulfil the wish, and note what else they fulfil."""
        conditions = self._quietly(start)
        if not _has(conditions, wish):
            return None
        for element in elements_near(conditions, wish):
            for way in ways_to(conditions, wish, element):
                found = self._solve(start, way)
                if found is not None and self._reference.accepts(found):
                    self._seen.add(self._run(found))
                    return found
        return None

    def _solve(
        self, start: dict[str, Array], way: Sequence[Requirement]
    ) -> dict[str, Array] | None:
        try:
            directions = effective(
                self._samples.spec.inputs, start, differences_of(self._run_in_time, way)
            )
            return solve(self._run_in_time, start, directions, way)
        except Exception:  # noqa: BLE001 - forward is the user's code, or took another path
            return None

    def _sizes(self) -> list[dict[str, int]]:
        """Return sizes at which each number of the inputs is moved alone, or else small ones."""
        sizes = DimSizes.of(self._samples.spec)
        inputs = self._samples.spec.inputs
        numbers = {
            tuple(own.items()): volume(inputs, own)
            for own in distinct(sizes.lowest, sizes.captured)
        }
        alone = [own for own, count in numbers.items() if 0 < count <= MOST_ALONE]
        others = [own for own, count in numbers.items() if 0 < count <= MOST_NUMBERS]
        return [dict(own) for own in alone or others]

    def _run(self, arrays: Arrays) -> list[Condition]:
        values = self._reference.values(arrays)
        return record(lambda: self._reference.call(values))

    def _run_in_time(self, arrays: Arrays) -> list[Condition]:
        if self._clock() > self._until:
            raise TimeoutError
        key = b"".join(array.tobytes() for array in arrays.values())
        known = self._runs.get(key)
        if known is None:
            known = self._run(arrays)
            if sum(condition.result.numel() for condition in known) <= MOST_KEPT_ELEMENTS:
                if len(self._runs) >= MOST_KEPT:
                    self._runs.pop(next(iter(self._runs)))
                self._runs[key] = known
        return known

    def _quietly(self, arrays: Arrays) -> list[Condition]:
        try:
            return self._run(arrays)
        except Exception:  # noqa: BLE001 - forward is the user's code
            return []


@contextmanager
def one_thread() -> Iterator[None]:
    """Run small models on one thread: on a busy machine the others cost 60 ms a run."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def _has(conditions: Sequence[Condition], wish: Wish) -> bool:
    """Return whether a run came to the condition of the wish."""
    return wish.place < len(conditions) and conditions[wish.place].op == wish.name
