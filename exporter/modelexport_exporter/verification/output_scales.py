"""The magnitudes of each output, as the samples so far showed them."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from modelexport_api.spec import ModelExportSpec
from modelexport_exporter.core.dims import is_dynamic
from modelexport_exporter.core.sample import DEGENERATE, FAR_NUMBERS, ORDINARY, Sample, Values
from modelexport_exporter.verification.numerics.compare import is_float, peak_of
from modelexport_exporter.verification.numerics.noise_estimate import NoiseEstimate
from modelexport_exporter.verification.numerics.slices import SlicePeaks, Slices

Array = NDArray[Any]

UNSLICED = DEGENERATE | FAR_NUMBERS
"""Values on which all of an output has one limit."""


class OutputScales:
    """The peak of each output on ordinary samples, and the slices with scales of their own."""

    def __init__(self, spec: ModelExportSpec, *, sliced: bool) -> None:
        """Begin without a sample; `sliced`: whether slices have limits of their own."""
        self._spec = spec
        self._sliced = sliced
        self._ordinary_peaks: dict[str, float] = {}
        self._slice_peaks: dict[str, SlicePeaks] = {}
        self._sample: Sample | None = None
        """The sample that `_slices_of` is of."""
        self._slices_of: dict[str, Slices | None] = {}

    def ordinary_peak(self, sample: Sample, name: str, want: Array) -> float:
        """Return the peak of an output on the samples so far, for a degenerate sample only.

        That of a normal sample is remembered.
        """
        degenerate = sample.values in DEGENERATE
        ordinary = self._ordinary_peaks.get(name, 0.0) if degenerate else 0.0
        if sample.values is Values.NORMAL and is_float(want.dtype):
            self._ordinary_peaks[name] = max(peak_of(want), self._ordinary_peaks.get(name, 0.0))
        return ordinary

    def slices(self, sample: Sample, name: str, want: Array) -> Slices | None:
        """Return the slices of an output of the sample, determined once for all of its runs."""
        if not self._sliced or not is_float(want.dtype) or sample.values in UNSLICED:
            return None
        if self._sample is not sample:
            self._sample, self._slices_of = sample, {}
        if name not in self._slices_of:
            self._slices_of[name] = self._find_slices(sample, name, want)
        return self._slices_of[name]

    def remember_noise(
        self, sample: Sample, name: str, want: Array, estimate: NoiseEstimate
    ) -> None:
        """Remember the noise of an ordinary sample's output, of which every element is settled."""
        if self._sliced and is_float(want.dtype):
            self._peaks_of(name).add_noise(want, self._varying(sample), estimate)

    def _find_slices(self, sample: Sample, name: str, want: Array) -> Slices | None:
        ordinary = sample.values in ORDINARY
        return self._peaks_of(name).slices(want, self._varying(sample), ordinary=ordinary)

    def _peaks_of(self, name: str) -> SlicePeaks:
        return self._slice_peaks.setdefault(name, SlicePeaks())

    def _varying(self, sample: Sample) -> list[int]:
        """Return the sizes of a sample's dynamic dims."""
        dims = self._spec.dims
        return [size for name, size in sample.dims.items() if is_dynamic(dims[name])]
