"""The sample that differs and shows most with least, for the search of the node to blame."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from numpy.typing import NDArray

from modelexport_exporter.core.blame import Blame
from modelexport_exporter.core.comparison import OutputComparison, ProblemKind, SampleComparison
from modelexport_exporter.core.sample import ORDINARY
from modelexport_exporter.core.types import ConvertedModel
from modelexport_exporter.verification.original import Original

Array = NDArray[Any]

_NOT_SEARCHED = {
    ProblemKind.NOT_DETERMINISTIC: "eager PyTorch differs from itself",
    ProblemKind.GOLDEN: "eager PyTorch does not return the golden output",
}
"""Why no node is searched for, where the file is not the cause."""
LARGEST_TELLING = 1 << 16
"""Elements of the inputs of a sample that is preferred to a smaller one."""


class SmallestFailure:
    """Keeps the arrays of one sample that differs: a telling one, and of these the smallest.

    In a batch of one row of zeros, half of the values inside of a model are equal to others.
    """

    def __init__(self) -> None:
        self._rank = (True, 0)
        self._arrays: Mapping[str, Array] | None = None
        self._outputs: tuple[OutputComparison, ...] = ()

    def add(self, volume: int, arrays: Mapping[str, Array], compared: SampleComparison) -> None:
        """Keep a sample's arrays if it differs and shows more than the one kept so far."""
        if not compared.differs:
            return
        rank = (not _is_telling(volume, compared), volume)
        if self._arrays is None or rank < self._rank:
            self._rank, self._arrays, self._outputs = rank, arrays, compared.outputs

    def blame(self, original: Original, converted: ConvertedModel) -> Blame | None:
        """Return the node to blame, or why none was found; None if no sample differs."""
        if self._arrays is None:
            return None
        kinds = {output.problem.kind for output in self._outputs if output.problem}
        for kind, why_not in _NOT_SEARCHED.items():
            if kind in kinds:
                return Blame(why_not=why_not)
        limits = [output.limit for output in self._outputs]
        return original.blame(converted, self._arrays, limits)


def _is_telling(volume: int, compared: SampleComparison) -> bool:
    """Return whether few values inside are equal by chance: ordinary ones, of several rows."""
    several = all(size > 1 for size in compared.dims.values())
    searched = not any(
        output.problem and output.problem.kind in _NOT_SEARCHED for output in compared.outputs
    )
    small = volume <= LARGEST_TELLING
    return compared.values in ORDINARY and several and small and searched
