"""Sizes at which eager PyTorch takes a path that no compared run took.

Every size of a small dim is compared anyway; of two dims, and of a dim of thousands, only eager
PyTorch runs at most sizes, because it is cheaper than a comparison.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import replace

import torch

from modelexport_exporter.core.sample import Sample, Values
from modelexport_exporter.verification.reference import EagerReference
from modelexport_exporter.verification.samples.sample_source import SampleSource
from modelexport_exporter.verification.samples.sizes import volume
from modelexport_exporter.verification.seeking.found import Found
from modelexport_exporter.verification.seeking.paths import NewPaths, Paths

SECONDS = 3.0
"""Time of these runs, comparisons included."""
LARGEST_SHARE = 0.05
"""Of this time that a single run may take."""
TIMED = 8
"""Number of runs after each of which the time is looked at."""
MOST_COMPARED = 64
SMALL, LARGE = 1 << 12, 1 << 20
"""Elements of the inputs: fewer say nothing of the time that more take; more are not tried."""


class SizePaths:
    """Runs eager PyTorch at many sizes."""

    def __init__(
        self,
        samples: SampleSource,
        reference: EagerReference,
        paths: Paths,
        clock: Callable[[], float],
    ) -> None:
        """Seek paths other than `paths`; `clock`: in seconds."""
        self._samples = samples
        self._reference = reference
        self._paths = paths
        self._clock = clock
        self._seconds_per_element = 0.0
        self.tried = 0
        """Number of runs that took a known path, or were compared."""

    def seek(
        self,
        samples: Iterable[Sample],
        compare: Callable[[Found], None],
        differs: Callable[[], bool],
        seconds: float = SECONDS,
    ) -> None:
        """Compare those samples of which the path is new, until one differs."""
        until = self._clock() + seconds
        compared = 0
        for place, sample in enumerate(samples):
            timed = place % TIMED == 0  # the clock takes longer than a small run
            if compared == MOST_COMPARED or (timed and self._clock() > until):
                return
            elements = volume(self._samples.spec.inputs, sample.dims)
            expected = self._seconds_per_element * elements
            if elements > LARGE or expected > LARGEST_SHARE * SECONDS:
                continue
            found = self._run(sample, elements)
            if found is not None:
                compare(found)
                compared += 1
                if differs():
                    return

    def _run(self, sample: Sample, elements: int) -> Found | None:
        """Run at these sizes; return inputs of them if the path is new."""
        # Equal elements are drawn in less time than the run takes.
        constant = replace(sample, values=Values.CONSTANT)
        values = self._reference.values(self._samples.arrays(constant))
        goal = NewPaths(self._paths)
        started = time.perf_counter() if elements >= SMALL else 0.0
        try:
            with torch.inference_mode(), goal.watching():
                outputs = self._reference.call(values)
        except Exception:  # noqa: BLE001 - what the model refuses is no path of the file
            return None
        if elements >= SMALL:
            seconds = (time.perf_counter() - started) / elements
            self._seconds_per_element = max(self._seconds_per_element, seconds)
        self.tried += 1
        if not goal.reaches(outputs):
            return None
        return Found(dict(sample.dims), self._samples.arrays(sample))
