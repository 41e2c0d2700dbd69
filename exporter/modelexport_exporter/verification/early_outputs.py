"""Outputs of eager PyTorch that were computed before they are compared, each used once.

That is before the file was there, or to see whether the model takes a sample at all.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

from modelexport_exporter.verification.early_arithmetic import EarlyArithmetic
from modelexport_exporter.verification.samples.met_arrays import digest_of
from modelexport_exporter.verification.seeking.watched_run import WatchedRun

Array = NDArray[Any]

MOST_BYTES = 1 << 26
"""What all outputs together may take."""


@dataclass(frozen=True)
class EarlyRun:
    """A run of eager PyTorch."""

    outputs: list[Array]
    seconds: float
    """How long it took, of those that no clock of the verification counts."""
    watched: WatchedRun

    @property
    def size_bytes(self) -> int:
        """Return what the outputs take."""
        return sum(array.nbytes for array in self.outputs)


class EarlyOutputs:
    """Runs by the arrays that they were made with."""

    def __init__(self) -> None:
        self._kept: dict[bytes, EarlyRun] = {}
        self._bytes = 0
        self._keeps, self._keeps_unwatched = True, True
        self._seconds = 0.0
        self.arithmetic = EarlyArithmetic()

    def __bool__(self) -> bool:
        return bool(self._kept)

    @property
    def seconds(self) -> float:
        """Return how long it took to compute what was used."""
        return self._seconds + self.arithmetic.seconds

    def has(self, arrays: Mapping[str, Array]) -> bool:
        """Return whether the outputs for these arrays are kept."""
        return digest_of(arrays) in self._kept

    def add(self, arrays: Mapping[str, Array], run: EarlyRun) -> bool:
        """Keep a run; return False if there is no room for its outputs."""
        keeps = self._keeps and (self._keeps_unwatched or run.watched.taken is not None)
        if not keeps or self._bytes + run.size_bytes > MOST_BYTES:
            return False
        self._bytes += run.size_bytes
        self._kept[digest_of(arrays)] = run
        return True

    def take(self, arrays: Mapping[str, Array]) -> EarlyRun | None:
        """Return the run on these arrays at the first call, then None."""
        if not self._kept:
            return None
        run = self._kept.pop(digest_of(arrays), None)
        if run is not None:
            self._seconds += run.seconds
            self._bytes -= run.size_bytes
        return run

    def forget_unwatched(self) -> None:
        """Keep no run whose jumps were not watched: the model reads values."""
        self._keeps_unwatched = False
        watched = {key: run for key, run in self._kept.items() if run.watched.taken is not None}
        self._kept = watched
        self._bytes = sum(run.size_bytes for run in watched.values())

    def forget(self) -> None:
        """Keep no run: what follows needs the runs themselves."""
        self._keeps = False
        self._kept.clear()
