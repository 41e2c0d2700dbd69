"""Collects the shapes that runs of a file returned, by the sizes of the inputs' dims."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from numpy.typing import NDArray

from modelexport_api.spec import Input
from modelexport_exporter.core.dims import sizes_of

Array = NDArray[Any]
Shape = tuple[int, ...]
Named = list[tuple[str, Array]]
RunFile = Callable[[Mapping[str, Array], str], Named]
EagerShapes = Callable[[Mapping[str, int]], Sequence[Shape] | None]
"""The shapes of the outputs that the original module returns at sizes; None: unknown."""


@dataclass(frozen=True, slots=True)
class Observed:
    """What one run took and returned; runs that differ in values only are one."""

    sizes: Mapping[str, int]
    shapes: Mapping[str, Shape]


@dataclass
class ObservedShapes:
    """The shapes of all runs of a file."""

    inputs: tuple[Input, ...]
    smallest: tuple[dict[str, Array], Named] | None = field(default=None, repr=False)
    """The arrays and the results of the run with the fewest elements."""
    _runs: dict[tuple[object, object], Observed] = field(default_factory=dict)

    @property
    def runs(self) -> tuple[Observed, ...]:
        """Return the runs, each once."""
        return tuple(self._runs.values())

    def watching(self, run_file: RunFile) -> RunFile:
        """Return the function, with each of its runs added here."""

        def watched(arrays: Mapping[str, Array], where: str) -> Named:
            outputs = run_file(arrays, where)
            self.add(arrays, outputs)
            return outputs

        return watched

    def add(self, arrays: Mapping[str, Array], outputs: Named) -> None:
        """Add a run."""
        sizes = sizes_of(self.inputs, arrays)
        shapes = {name: tuple(array.shape) for name, array in outputs if hasattr(array, "shape")}
        self._runs[tuple(sizes.items()), tuple(shapes.items())] = Observed(sizes, shapes)
        if self.smallest is None or _elements(arrays) < _elements(self.smallest[0]):
            self.smallest = dict(arrays), outputs


def _elements(arrays: Mapping[str, Array]) -> int:
    return sum(array.size for array in arrays.values())
