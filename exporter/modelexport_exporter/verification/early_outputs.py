"""Outputs of eager PyTorch that were computed before they are compared, each used once.

That is before the file was there, or to see whether the model takes a sample at all.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from numpy.typing import NDArray

from modelexport_exporter.verification.samples.met_arrays import digest_of

Array = NDArray[Any]

MOST_BYTES = 1 << 26
"""What all outputs together may take."""


class EarlyOutputs:
    """Outputs by the arrays that led to them."""

    def __init__(self) -> None:
        self._kept: dict[bytes, tuple[list[Array], float]] = {}
        self._bytes = 0
        self._forgets = False
        self.seconds = 0.0
        """How long it took to compute the outputs that were used."""

    def __bool__(self) -> bool:
        return bool(self._kept)

    def has(self, arrays: Mapping[str, Array]) -> bool:
        """Return whether the outputs for these arrays are kept."""
        return digest_of(arrays) in self._kept

    def add(self, arrays: Mapping[str, Array], outputs: list[Array], seconds: float) -> bool:
        """Keep outputs that took `seconds`; return False if there is no room for them.

        `seconds`: that no clock of the verification counts.
        """
        size = sum(array.nbytes for array in outputs)
        if self._forgets or self._bytes + size > MOST_BYTES:
            return False
        self._bytes += size
        self._kept[digest_of(arrays)] = outputs, seconds
        return True

    def take(self, arrays: Mapping[str, Array]) -> list[Array] | None:
        """Return the outputs for these arrays at the first call, then None."""
        if not self._kept:
            return None
        outputs, seconds = self._kept.pop(digest_of(arrays), (None, 0.0))
        self.seconds += seconds
        self._bytes -= sum(array.nbytes for array in outputs or ())
        return outputs

    def forget(self) -> None:
        """Drop all outputs, and keep none any more: what follows needs the runs themselves."""
        self._kept.clear()
        self._forgets = True
