"""The smallest sample that differs, for the search of the node to blame."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from numpy.typing import NDArray

from modelexport_exporter.core.blame import Blame
from modelexport_exporter.core.comparison import OutputComparison, ProblemKind, SampleComparison
from modelexport_exporter.core.types import ConvertedModel
from modelexport_exporter.verification.original import Original

Array = NDArray[Any]

_NOT_SEARCHED = {
    ProblemKind.NOT_DETERMINISTIC: "eager PyTorch differs from itself",
    ProblemKind.GOLDEN: "eager PyTorch does not return the golden output",
}
"""Why no node is searched for, where the file is not the cause."""


class SmallestFailure:
    """Keeps the arrays of the smallest sample that differs, and of no other."""

    def __init__(self) -> None:
        self._volume = 0
        self._arrays: Mapping[str, Array] | None = None
        self._outputs: tuple[OutputComparison, ...] = ()

    def add(self, volume: int, arrays: Mapping[str, Array], compared: SampleComparison) -> None:
        """Keep a sample's arrays if it differs and is smaller than the one kept so far."""
        if not compared.differs:
            return
        if self._arrays is None or volume < self._volume:
            self._volume, self._arrays, self._outputs = volume, arrays, compared.outputs

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
