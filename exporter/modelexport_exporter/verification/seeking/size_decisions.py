"""What the file decides on sizes alone, and the sizes at which it decides so for the first time.

`n + m == 59` holds at few of a million pairs of sizes. The decision itself is computed at thousands
of them at once, so that it is looked for among many more pairs than can be compared.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray

from modelexport_api.spec import Input
from modelexport_exporter.core.dims import concrete_shape
from modelexport_exporter.core.errors import ExportFailure
from modelexport_exporter.core.sample import Sample
from modelexport_exporter.verification.seeking.probe_file import Opened, RunFile, open_probe
from modelexport_exporter.verification.seeking.size_probe import SHAPE_OF, size_probe_of
from modelexport_exporter.verification.shapes.all_sizes import values_at_all

Array = NDArray[Any]

_VARIANT = "sizes.onnx"
MOST_FOUND = 24
"""Samples at sizes with a new decision."""
AT_ONCE = 4096
"""Samples whose decisions are computed together."""
ONE_BY_ONE = 16
"""The same, where each needs a run of the probe."""
_REFUSED = b""
"""In place of a decision: the runtime refuses these sizes."""


class SizeDecisions:
    """The decisions of a file, and those that runs met."""

    def __init__(self, inputs: Sequence[Input], probe: onnx.ModelProto, run: RunFile) -> None:
        """`run`: runs the probe at one combination of sizes."""
        self._inputs = inputs
        self._probe = probe
        self._run = run
        self._at_once = True
        """Whether the probe's nodes are understood without the runtime."""
        self._met = [{_REFUSED} for _ in probe.graph.output]

    def add(self, sizes: Sequence[Mapping[str, int]]) -> None:
        """Note that the file ran at these sizes."""
        decided = self._one_by_one(sizes)
        if self._at_once and self._together(sizes) != decided:
            self._at_once = False
        for output, decisions in enumerate(decided):
            self._met[output].update(decisions)

    def among(
        self, samples: Iterable[Sample], seconds: float, clock: Callable[[], float] = time.monotonic
    ) -> Iterator[Sample]:
        """Yield the samples at whose sizes a decision is new, for as long as the time lasts."""
        until, found = clock() + seconds, 0
        left = iter(samples)
        while found < MOST_FOUND and clock() <= until:
            some = list(islice(left, AT_ONCE if self._at_once else ONE_BY_ONE))
            if not some:
                return
            for place in islice(self._new_among(some), MOST_FOUND - found):
                found += 1
                yield some[place]

    def _new_among(self, samples: Sequence[Sample]) -> Iterator[int]:
        """Yield the places of samples with a new decision."""
        sizes = [sample.dims for sample in samples]
        decided = self._together(sizes) if self._at_once else None
        firsts: dict[int, list[tuple[set[bytes], bytes]]] = {}
        for output, decisions in enumerate(decided or self._one_by_one(sizes)):
            met = self._met[output]
            # The first place of each decision comes last, and stays.
            places = {own: place for place, own in reversed(list(enumerate(decisions)))}
            for decision in places.keys() - met:
                firsts.setdefault(places[decision], []).append((met, decision))
        for place in sorted(firsts):
            for met, decision in firsts[place]:
                met.add(decision)
            yield place

    def _together(self, sizes: Sequence[Mapping[str, int]]) -> list[list[bytes]] | None:
        """Return for each output what it decides at each combination; None if not understood."""
        shapes = {
            SHAPE_OF + entry.name: np.array([concrete_shape(entry, own) for own in sizes], np.int64)
            for entry in self._inputs
        }
        found = values_at_all(self._probe, shapes)
        if found is None:
            return None
        return [_rows(value, len(sizes)) for value in found.values()]

    def _one_by_one(self, sizes: Sequence[Mapping[str, int]]) -> list[list[bytes]]:
        """Return the same by a run for each combination; nothing where the runtime refuses it."""
        decided = [self._at(own) for own in sizes]
        return [list(decisions) for decisions in zip(*decided, strict=True)]

    def _at(self, dims: Mapping[str, int]) -> list[bytes]:
        shapes = {
            SHAPE_OF + entry.name: np.array(concrete_shape(entry, dims), np.int64)
            for entry in self._inputs
        }
        try:
            return [made.tobytes() for _, made in self._run(shapes, "its decisions on sizes")]
        except ExportFailure:
            # The file fails, too, where it is run.
            return [_REFUSED] * len(self._probe.graph.output)


def _rows(value: Array, count: int) -> list[bytes]:
    """Return each row's bytes; one row may stand for all."""
    width = value[0].nbytes
    whole = np.ascontiguousarray(value).tobytes()
    rows = [whole[start : start + width] for start in range(0, len(whole), width)]
    return rows * count if len(rows) < count else rows


def size_decisions_of(path: Path, inputs: Sequence[Input], opened: Opened) -> SizeDecisions | None:
    """Return the decisions of a file; None if it has none. `opened` loads a file and runs it."""
    probe = size_probe_of(onnx.load(path, load_external_data=False))
    if probe is None:
        return None
    run = open_probe(probe, path.parent / _VARIANT, opened)
    return SizeDecisions(inputs, probe, run) if run is not None else None
