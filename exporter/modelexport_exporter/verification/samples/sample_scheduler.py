"""Schedules the planned samples within the budget.

`budget` estimates and decides; this class records costs, shrinks the largest sample if it does not
fit, and lists the samples that are left out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from modelexport_api.spec import ModelExportSpec
from modelexport_exporter.core.dims import DimSizes, describe_sizes
from modelexport_exporter.core.machine import free_memory, peak_memory
from modelexport_exporter.core.sample import Sample
from modelexport_exporter.verification.samples.budget import HEADROOM, Admission, Cost, Room, admit
from modelexport_exporter.verification.samples.sizes import shrink, volume


class SampleScheduler:
    """Decides which samples run, from the costs of those that ran."""

    def __init__(
        self,
        spec: ModelExportSpec,
        seconds: float,
        free: Callable[[], int] = free_memory,
        peak: Callable[[], int] = peak_memory,
    ) -> None:
        """Schedule samples of a spec for `seconds` in all.

        `free`: bytes that they may use. `peak`: the largest resident size so far, in bytes.
        """
        self._spec = spec
        self._seconds = seconds
        self._free, self._peak = free, peak
        self._dims = DimSizes.of(spec)
        self._costs: list[Cost] = []
        self.left_out: list[str] = []
        """One sentence for each sample that did not run."""

    @property
    def spent(self) -> float:
        """Return the time of all samples together, in seconds."""
        return sum(cost.seconds for cost in self._costs)

    @property
    def seconds(self) -> list[float]:
        """Return the time of each sample that ran, in seconds."""
        return [cost.seconds for cost in self._costs]

    @property
    def slowest(self) -> float | None:
        """Return the time of the slowest sample in seconds; None before the first."""
        return max((cost.seconds for cost in self._costs), default=None)

    def note(self, sample: Sample, seconds: float) -> None:
        """Record the cost of a sample."""
        self._costs.append(Cost(self.volume(sample), seconds, self._peak()))

    def admit(self, sample: Sample) -> Admission:
        """Decide on a sample."""
        room = Room(self._seconds - self.spent, self._free())
        return admit(self._costs, self.volume(sample), room)

    def fits_within(self, sample: Sample, seconds: float) -> bool:
        """Return whether a sample fits if it may take so long, whatever is left of the budget."""
        room = Room(seconds, self._free())
        return admit(self._costs, self.volume(sample), room).fits

    def admissible(self, planned: Sample) -> Iterator[Sample]:
        """Yield the sample, or smaller ones that fit; the caller runs each before the next.

        The largest sample runs at a quarter of its volume first if it does not seem to fit, which
        improves the estimate.
        """
        admission = self.admit(planned)
        ran: list[Sample] = []
        for part in (0.25, 1.0) if self._is_corner(planned) else ():
            if admission.fits:
                break
            smaller = shrink(planned, self._dims.lowest, min(part, admission.factor * HEADROOM))
            if smaller is None or not self.admit(smaller).fits:
                break
            if ran and self.volume(smaller) <= self.volume(ran[-1]):
                break
            ran.append(smaller)
            yield smaller
            admission = self.admit(planned)
        if admission.fits:
            yield planned
        else:
            instead = f"{describe_sizes(ran[-1].dims)} ran instead" if ran else "left out"
            where = f"{describe_sizes(planned.dims)} ({planned.label} values)"
            self.left_out.append(f"{where}: {admission.why}; {instead}")

    def volume(self, sample: Sample) -> int:
        """Return the number of elements of a sample's inputs."""
        return volume(self._spec.inputs, sample.dims)

    def _is_corner(self, sample: Sample) -> bool:
        return sample.dims == self._dims.highest
