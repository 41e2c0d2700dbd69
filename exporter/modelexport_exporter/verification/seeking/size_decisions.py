"""What the file decides on sizes alone, and the sizes at which it decides so for the first time.

`n + m == 59` holds at few of a million pairs of sizes. The decision itself is computed in
microseconds, so that it is looked for among many more pairs than can be compared.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np
import onnx

from modelexport_api.spec import Input
from modelexport_exporter.core.dims import concrete_shape
from modelexport_exporter.core.errors import ExportFailure
from modelexport_exporter.core.sample import Sample
from modelexport_exporter.verification.seeking.probe_file import Opened, RunFile, open_probe
from modelexport_exporter.verification.seeking.size_probe import SHAPE_OF, size_probe_of

_VARIANT = "sizes.onnx"
MOST_FOUND = 24
"""Samples at sizes with a new decision."""
TIMED = 16
"""Number of runs after each of which the time is looked at."""


class SizeDecisions:
    """The decisions of a file at some sizes, and those that runs met."""

    def __init__(self, inputs: Sequence[Input], run: RunFile) -> None:
        """`run`: runs the probe of the file."""
        self._inputs = inputs
        self._run = run
        self._met: list[set[bytes]] = []

    def add(self, dims: Mapping[str, int]) -> bool:
        """Note that the file ran at these sizes; return whether a decision was new."""
        new = False
        for place, decision in enumerate(self._at(dims)):
            if place == len(self._met):
                self._met.append(set())
            new |= decision not in self._met[place]
            self._met[place].add(decision)
        return new

    def among(
        self, samples: Iterable[Sample], seconds: float, clock: Callable[[], float] = time.monotonic
    ) -> Iterator[Sample]:
        """Yield the samples at whose sizes a decision is new, for as long as the time lasts."""
        until, found = clock() + seconds, 0
        for place, sample in enumerate(samples):
            if found == MOST_FOUND or (place % TIMED == 0 and clock() > until):
                return
            if self.add(sample.dims):
                found += 1
                yield sample

    def _at(self, dims: Mapping[str, int]) -> list[bytes]:
        shapes = {
            SHAPE_OF + entry.name: np.array(concrete_shape(entry, dims), np.int64)
            for entry in self._inputs
        }
        try:
            return [made.tobytes() for _, made in self._run(shapes, "its decisions on sizes")]
        except ExportFailure:
            return []  # the file fails, too, where it is run


def size_decisions_of(path: Path, inputs: Sequence[Input], opened: Opened) -> SizeDecisions | None:
    """Return the decisions of a file; None if it has none. `opened` loads a file and runs it."""
    probe = size_probe_of(onnx.load(path, load_external_data=False))
    if probe is None:
        return None
    run = open_probe(probe, path.parent / _VARIANT, opened)
    return SizeDecisions(inputs, run) if run is not None else None
