"""Which values the boolean outputs of eager PyTorch had: a flag that never rose shows nothing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]


class FlagsMet:
    """The values of each boolean output over all samples."""

    def __init__(self) -> None:
        self._met: dict[str, set[bool]] = {}

    def add(self, outputs: Mapping[str, Array]) -> None:
        """Note the values of a sample's outputs."""
        for name, array in outputs.items():
            if array.dtype.kind == "b":
                met = self._met.setdefault(name, set())
                if len(met) < len((False, True)):
                    met.update(np.unique(array).tolist())

    def coverage(self) -> list[str]:
        """Return `alarm is False in all samples` for each output that had one value only."""
        only = {name: met.copy().pop() for name, met in self._met.items() if len(met) == 1}
        return [f"{name} is {value} in all samples" for name, value in only.items()]
