"""What was found out about the model's arithmetic before it is asked, each used once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from numpy.typing import NDArray

from modelexport_exporter.verification.numerics.arithmetic import Arithmetic
from modelexport_exporter.verification.samples.met_arrays import digest_of

Array = NDArray[Any]
T = TypeVar("T")


@dataclass(frozen=True)
class EarlyAnswer(Generic[T]):
    """An answer for one sample."""

    arrays: bytes
    """The digest of the sample's arrays."""
    answer: T
    seconds: float
    """How long it took, of those that no clock of the verification counts."""

    @classmethod
    def of(cls, arrays: Mapping[str, Array], answer: T, seconds: float) -> EarlyAnswer[T]:
        """Return the answer for these arrays."""
        return cls(digest_of(arrays), answer, seconds)


@dataclass
class EarlyArithmetic:
    """The answers that do not depend on the file."""

    computed_in: EarlyAnswer[list[Arithmetic]] | None = None
    """For each output, the arithmetic that leads to it."""
    in_float64: EarlyAnswer[list[Array]] | None = None
    """The outputs in float64; none where the model does not run in it."""
    seconds: float = 0.0
    """How long it took to find the answers that were used."""

    def take_computed_in(self, arrays: Mapping[str, Array]) -> list[Arithmetic] | None:
        """Return the arithmetic at the first call with these arrays, then None."""
        found, self.computed_in = self.computed_in, None
        return self._counted(found, arrays)

    def take_in_float64(self, arrays: Mapping[str, Array]) -> list[Array] | None:
        """Return the outputs in float64 at the first call, if with these arrays, then None."""
        found, self.in_float64 = self.in_float64, None
        return self._counted(found, arrays)

    def _counted(self, found: EarlyAnswer[T] | None, arrays: Mapping[str, Array]) -> T | None:
        if found is None or found.arrays != digest_of(arrays):
            return None
        self.seconds += found.seconds
        return found.answer
