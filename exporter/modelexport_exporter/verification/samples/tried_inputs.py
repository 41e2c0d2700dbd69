"""Collects what each input was fed, for the report: a verdict is about these values and sizes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from modelexport_exporter.core.tried_input import TriedInput

Array = NDArray[Any]
MOST_SHAPES = 64


@dataclass
class _Input:
    shapes: dict[tuple[int, ...], None] = field(default_factory=dict)
    ends: list[float] = field(default_factory=list)
    not_finite: int = 0
    kinds: dict[str, None] = field(default_factory=dict)


class TriedInputs:
    """Notes the inputs of samples."""

    def __init__(self) -> None:
        self._inputs: dict[str, _Input] = {}

    def add(self, arrays: Mapping[str, Array], kind: str) -> None:
        """Note a sample that was compared; `kind`: what it was drawn from."""
        for name, array in arrays.items():
            known = self._inputs.setdefault(name, _Input())
            known.shapes.setdefault(array.shape)
            known.kinds.setdefault(kind)
            finite = _finite(array)
            known.not_finite += finite.size < array.size
            if finite.size:
                ends = [*known.ends, float(finite.min()), float(finite.max())]
                known.ends = [min(ends), max(ends)]

    def all(self) -> tuple[TriedInput, ...]:
        """Return what was noted, by input."""
        return tuple(
            TriedInput(
                name=name,
                shapes=tuple(known.shapes)[:MOST_SHAPES],
                more_shapes=max(0, len(known.shapes) - MOST_SHAPES),
                low=known.ends[0] if known.ends else None,
                high=known.ends[1] if known.ends else None,
                not_finite=known.not_finite,
                kinds=tuple(known.kinds),
            )
            for name, known in self._inputs.items()
        )


def _finite(array: Array) -> Array:
    """Return the finite elements, in one dim; all of integers and booleans."""
    if array.dtype.kind in "iub":
        return array.reshape(-1)
    plain = array.astype(np.float64, copy=False)
    return plain[np.isfinite(plain)]
