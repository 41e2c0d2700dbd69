"""Samples with NaN, infinities or far numbers: which of them a model is compared on.

Most models expect none of these. A model that tests for NaN, or returns finite numbers all the
same, does; what it only computes with is compared where the kernels of the runtime treat NaN as
torch does.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from modelexport_exporter.core.comparison import OutputComparison
from modelexport_exporter.core.sample import FAR_NUMBERS, NOT_FINITE, Sample, Values
from modelexport_exporter.verification.numerics.compare import is_float
from modelexport_exporter.verification.treatment_of_nan import TreatmentOfNan

Array = NDArray[Any]

UNUSUAL = NOT_FINITE | FAR_NUMBERS


class TakesNumbers(Protocol):
    """A model that may be called with any numbers."""

    def accepts(self, arrays: Mapping[str, Array]) -> bool:
        """Return whether the model runs on these arrays."""

    def treatment_of_nan(self, arrays: Mapping[str, Array]) -> TreatmentOfNan:
        """Return how the model, called with these arrays, treats NaN and infinity."""


class UnusualValues:
    """Decides about unusual samples of a model."""

    def __init__(
        self,
        original: TakesNumbers,
        unlike_nan: Collection[str] | None,
        rounded: Collection[str] = (),
    ) -> None:
        """Decide for a model.

        `unlike_nan`: outputs for which kernels of the runtime treat NaN otherwise than torch does;
        None if that is not known. `rounded`: outputs that depend on a float that became an integer.
        """
        self._original = original
        self._unlike_nan = unlike_nan
        self._rounded = rounded
        self._nan: TreatmentOfNan | None = None
        """None before the first unusual sample."""
        self._left_out: set[str] = set()
        self.failed_far = 0
        """Samples of far numbers on which the file failed, as eager does if it rounds otherwise."""

    def runs_on(self, sample: Sample, arrays: Mapping[str, Array]) -> bool:
        """Return whether eager is to run on the sample."""
        if sample.values not in UNUSUAL:
            return True
        treatment = self._treatment_of_nan(arrays)
        if treatment is TreatmentOfNan.ROUNDED and sample.values is not Values.WITH_NAN:
            return False
        return treatment is not TreatmentOfNan.UNDEFINED and self._original.accepts(arrays)

    def expects(
        self, sample: Sample, arrays: Mapping[str, Array], returned: Sequence[Array]
    ) -> bool:
        """Return whether the model tests for NaN or infinity, or returned finite numbers only."""
        if sample.values not in UNUSUAL:
            return True
        floats = [array for array in returned if is_float(array.dtype)]
        finite = all(np.isfinite(array.astype(np.float64)).all() for array in floats)
        if sample.values in FAR_NUMBERS:
            return finite
        treatment = self._treatment_of_nan(arrays)
        if treatment is TreatmentOfNan.ROUNDED:
            return False
        return treatment is TreatmentOfNan.TESTED or (bool(floats) and finite)

    def compares_unexpected(self, sample: Sample, arrays: Mapping[str, Array]) -> bool:
        """Return whether to compare values that the model neither tests for nor removes."""
        if self._unlike_nan is None or sample.values is not Values.WITH_NAN:
            return False
        expected = {TreatmentOfNan.COMPUTED, TreatmentOfNan.ROUNDED}
        return self._treatment_of_nan(arrays) in expected

    def may_fail(self, sample: Sample) -> bool:
        """Return whether the file may fail where eager does not: an integer of NaN is any place."""
        return sample.values is Values.WITH_NAN and self._nan is TreatmentOfNan.ROUNDED

    def excused(self, outputs: Sequence[OutputComparison]) -> frozenset[str]:
        """Return the outputs whose problem a kernel's own treatment of NaN may cause."""
        differing = {output.output for output in outputs if output.problem}
        found = differing.intersection({*(self._unlike_nan or ()), *self._rounded})
        self._left_out |= found
        return frozenset(found)

    def coverage(self) -> list[str]:
        """Return which outputs were not compared where an input is NaN, and which samples."""
        return [*self._of_nan(), *self._of_far_numbers()]

    def _of_far_numbers(self) -> list[str]:
        if not self.failed_far:
            return []
        where = "eager raises an error there if it rounds otherwise"
        return [f"{self.failed_far} samples of far numbers not: {where}"]

    def _of_nan(self) -> list[str]:
        if not self._left_out:
            return []
        names = ", ".join(sorted(self._left_out))
        rounded = self._nan is TreatmentOfNan.ROUNDED
        why = "became an integer" if rounded else "kernels of the runtime do not pass on"
        return [f"{names} not with NaN, which {why}"]

    def _treatment_of_nan(self, arrays: Mapping[str, Array]) -> TreatmentOfNan:
        if self._nan is None:
            finite = {
                name: np.where(np.isfinite(array), array, 1).astype(array.dtype)
                for name, array in arrays.items()
            }
            self._nan = self._original.treatment_of_nan(finite)
        return self._nan


def excuse_kernel(output: OutputComparison) -> OutputComparison:
    """Return the comparison without its problem."""
    return replace(output, problem=None, inconclusive="kernels of the runtime differ in NaN")
