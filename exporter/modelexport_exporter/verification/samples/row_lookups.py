"""The samples that look rows up: their sizes and number, and what the budget left out."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import zip_longest

from modelexport_api.spec import ModelExportSpec
from modelexport_exporter.core.dims import DimSizes, distinct
from modelexport_exporter.core.sample import Sample, Values
from modelexport_exporter.sampling.lookups import Lookups, lookups_at_once
from modelexport_exporter.verification.samples.sizes import volume

LARGEST_VOLUME = 1 << 16
"""Elements of the inputs of such samples."""
FEW = 64
"""Rows of a table that any sample reads, and of lists of sizes, which are tables of the file."""


@dataclass
class RowLookups:
    """Plans samples for the rows of several tables, and counts the rows of those that ran."""

    spec: ModelExportSpec
    lookups: tuple[Lookups, ...]
    met: dict[int, int] = field(default_factory=dict)
    """Number of rows that were looked up, by the position of their table."""

    def samples(self, fits: Callable[[Sample], bool]) -> Iterator[Sample]:
        """Yield samples of all rows, of each table by turns; the caller runs each before the next.

        `fits`: whether the budget allows a sample.
        """
        if self.spec.verification.sampler is not None:
            return  # it knows which numbers make sense together
        parts = [self._parts(place, fits) for place in range(len(self.lookups))]
        for step in zip_longest(*parts):
            for place, part in enumerate(step):
                if part is not None:
                    sample, met = part
                    yield sample
                    self.met[place] = met

    def _parts(self, place: int, fits: Callable[[Sample], bool]) -> Iterator[tuple[Sample, int]]:
        """Yield the samples of a table, with the number of its rows up to each."""
        own = self.lookups[place]
        fitting = (s for s in self._sizes(own) if fits(Sample(s, Values.LOOKUPS, place)))
        sizes = next(fitting, None)
        if sizes is None:
            return
        size = lookups_at_once(own, self.spec.inputs, sizes)
        for part in range(-(-own.count // size)):
            seed = part * len(self.lookups) + place
            yield Sample(sizes, Values.LOOKUPS, seed), min((part + 1) * size, own.count)

    def _sizes(self, own: Lookups) -> list[dict[str, int]]:
        """Return the smallest sizes that hold all rows at once, then smaller ones."""
        dims, inputs = DimSizes.of(self.spec), self.spec.inputs

        def places(sizes: Mapping[str, int]) -> int:
            return lookups_at_once(own, inputs, sizes)

        ordered = sorted(distinct(dims.lowest, dims.between, dims.highest), key=places)
        ordered = [s for s in ordered if places(s) and volume(inputs, s) <= LARGEST_VOLUME]
        enough = next((at for at, s in enumerate(ordered) if places(s) >= own.count), len(ordered))
        return ordered[: enough + 1][::-1]

    def coverage(self) -> list[str]:
        """Return which rows were not looked up: a sentence for each table with such rows."""
        return list(filter(None, map(self._describe, range(len(self.lookups)))))

    def _describe(self, place: int) -> str:
        own, met = self.lookups[place], self.met.get(place, 0)
        certain = own.known or (not own.compared and own.count <= FEW)
        if met >= own.count and certain:
            return ""
        which = "that differ from eager's" if own.compared else "that only the file has"
        if not own.known:
            return f"{own.count} rows of table {own.table} {which}: unknown what looks them up"
        return f"looked up {met} of the {own.count} rows of table {own.table} {which}"
