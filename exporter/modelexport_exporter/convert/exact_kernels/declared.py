"""What the spec says about the inputs of a graph."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

import onnx_ir as ir

from modelexport_api.spec import ModelExportSpec
from modelexport_exporter.sampling.not_finite import takes_nan

DATA_DEPENDENT = re.compile(r"\bu\d+\b")
"""How torch.export names a size that depends on values."""


@dataclass(frozen=True, slots=True)
class Declared:
    """Ranges of values and of sizes."""

    magnitudes: Mapping[str, float] = field(default_factory=dict)
    """The largest magnitude of each input whose range is declared."""
    never_empty: Collection[str] = ()
    """Dims that are at least 1."""
    takes_nan: bool = True
    """Whether an input may hold NaN."""
    may_be_empty: Collection[str] = ()
    """Dims that may be 0."""
    largest: Mapping[str, int] = field(default_factory=dict)
    """The largest size of each dim."""
    elements: int = 0
    """Of the largest input."""
    may_be_one: Collection[str] = ()
    """Dims that may be 1."""

    @classmethod
    def of(cls, spec: ModelExportSpec) -> Declared:
        """Return what the spec declares."""
        ranges = {entry.name: entry.range for entry in spec.inputs if entry.range is not None}
        largest = {name: dim.max for name, dim in spec.dims.items()}
        return cls(
            {name: max(abs(low), abs(high)) for name, (low, high) in ranges.items()},
            frozenset(name for name, dim in spec.dims.items() if dim.min >= 1),
            any(takes_nan(entry) for entry in spec.inputs),
            frozenset(name for name, dim in spec.dims.items() if dim.min == 0),
            largest,
            max((_elements(entry.shape, largest) for entry in spec.inputs), default=0),
            frozenset(name for name, dim in spec.dims.items() if dim.min <= 1 <= dim.max),
        )

    def longest(self, dim: int | ir.SymbolicDim) -> int:
        """Return how large a dim may be.

        A computed one as the largest that is declared; one that depends on values, or of which
        nothing is known, as large as an input.
        """
        if isinstance(dim, int):
            return dim
        name = dim.value
        if name is None or DATA_DEPENDENT.search(name):
            return self.elements
        return self.largest.get(name, max(self.largest.values(), default=0))


def _elements(shape: Sequence[int | str], largest: Mapping[str, int]) -> int:
    """Return how many elements an input may have; a computed dim counts as 1."""
    return math.prod(dim if isinstance(dim, int) else largest.get(dim, 1) for dim in shape)
