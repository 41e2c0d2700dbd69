"""The source of a sample's arrays: drawn here, recorded by the user, or from the user's sampler.

Golden samples run after the plan's smallest sample. A sampler replaces drawing: it is called for
every sample of the plan, with that sample's sizes and seed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import zip_longest
from math import prod
from typing import Any

from numpy.typing import NDArray

from modelexport_api.spec import ModelExportSpec
from modelexport_exporter.core.dims import DimSizes, concrete_shape
from modelexport_exporter.core.sample import NOT_FINITE, ORDINARY, Sample, Values
from modelexport_exporter.core.types import ConvertedModel, ExportTask, Rung, SizeGuard
from modelexport_exporter.sampling.draw import (
    draw,
    each_count,
    have_dtype_in_common,
    reaches_limits,
    takes_far,
)
from modelexport_exporter.sampling.golden import Golden, read_golden
from modelexport_exporter.sampling.inject import (
    InjectedValues,
    has_named,
    has_values,
    inject,
    inject_named,
    sample_count,
)
from modelexport_exporter.sampling.lookups import Lookups, look_up
from modelexport_exporter.sampling.masks import is_mask
from modelexport_exporter.sampling.not_finite import inject_not_finite, takes_nan
from modelexport_exporter.sampling.scales import draw_at_scales, has_scales
from modelexport_exporter.verification.samples.every_size import (
    every_size,
    likely_alone,
    sizes_together,
)
from modelexport_exporter.verification.samples.injected_values import find_injected_values
from modelexport_exporter.verification.samples.sizes import (
    more_samples,
    plan_samples,
    samples_of_weights,
    volume,
)

Array = NDArray[Any]
Sampler = Callable[[Sample], dict[str, Array]]
"""The user's sampler: returns the arrays of a sample. Raises ExportFailure."""
FEW = 8
"""Samples of injected values at small sizes."""
NAMED_SAMPLES = 4
"""Samples of nothing but numbers that the model names."""
MOST_NAMED = 64
"""The same after all other samples."""
SCALED_SAMPLES = 2
"""Samples of the scales that the model names."""
FIRST = FEW + NAMED_SAMPLES + SCALED_SAMPLES
"""Of these samples, those that run before other values."""
LARGEST_VOLUME = 1 << 16
"""Elements of the inputs of such samples."""


@dataclass(frozen=True)
class SampleSource:
    """Plans samples and returns their arrays."""

    spec: ModelExportSpec
    golden: tuple[Golden, ...] = ()
    injected: InjectedValues = field(default_factory=InjectedValues)
    lookups: tuple[Lookups, ...] = ()
    """Rows of tables to look up."""
    sampler: Sampler | None = None
    proven_graph: bool = False
    """Whether the graph was verified before, so that only the weights are verified."""
    guards: tuple[SizeGuard, ...] = ()
    """What the graph assumes of its sizes, which is verified where it does not hold."""

    def plan(self) -> tuple[Sample, ...]:
        """Return the samples to run, in order."""
        golden = [
            Sample(entry.dims, Values.GOLDEN, place) for place, entry in enumerate(self.golden)
        ]
        samples = samples_of_weights if self.proven_graph else plan_samples
        planned = samples(self.spec)
        drawn = not self.proven_graph and self.sampler is None
        injected = self._smallest_injected() if drawn else ()
        meaningful = filter(self._is_meaningful, (*planned[1:-1], *injected, *planned[-1:]))
        first, *others = self._with_sampler((planned[0], *meaningful))
        return (first, *golden, *others)

    def more(self) -> tuple[Sample, ...]:
        """Return further samples, for models that run fast."""
        if self.proven_graph:
            return self._with_sampler(self._plan_injected())
        samples = [entry for entry in more_samples(self.spec) if self._is_meaningful(entry)]
        injected = self._plan_injected()
        return self._with_sampler((*injected[:FIRST], *samples, *injected[FIRST:]))

    def named(self, *, large: bool) -> Iterator[Sample]:
        """Yield further samples of numbers that the model names, for as long as the budget lasts.

        `large`: of the largest sizes, which have the most rows.
        """
        if self.proven_graph or not has_named(self.spec.inputs, self.injected):
            return
        dims = DimSizes.of(self.spec)
        fits = large and volume(self.spec.inputs, dims.highest) <= LARGEST_VOLUME
        sizes = dims.highest if fits else dims.lowest
        for number in range(MOST_NAMED):
            yield self._from_sampler(Sample(sizes, Values.NAMED, NAMED_SAMPLES + 1 + number))

    def every_size(self) -> Iterator[Sample]:
        """Yield samples of all sizes, for as long as the budget lasts."""
        if not self.proven_graph:
            yield from map(self._from_sampler, self._sizes())

    def likely_sizes(self, ran: Sequence[Mapping[str, int]]) -> Iterator[Sample]:
        """Yield samples of the likeliest sizes of each dim that did not run."""
        if not self.proven_graph:
            yield from map(self._from_sampler, likely_alone(self.spec, ran, self.named_sizes))

    @property
    def named_sizes(self) -> tuple[int, ...]:
        """Return the numbers of the model that may be sizes, those that it compares with first."""
        return tuple(dict.fromkeys((*self.injected.sizes, *self.injected.integers)))

    def each_integer(self) -> Iterator[Sample]:
        """Yield samples that have each integer of the ranges of inputs, for as long as it lasts."""
        dims, inputs = DimSizes.of(self.spec), self.spec.inputs
        large = volume(inputs, dims.highest) <= LARGEST_VOLUME
        sizes = dims.highest if large else dims.between
        counts = [each_count(entry, prod(concrete_shape(entry, sizes))) for entry in inputs]
        if not self.proven_graph and self.sampler is None:
            for number in range(max(counts, default=0)):
                yield Sample(sizes, Values.EACH, number)

    def many_sizes(self) -> Iterator[Sample]:
        """Yield the same samples, and by turns others of sizes of several dims together."""
        together = sizes_together(self.spec)
        for pair in zip_longest(self._sizes(), together):
            yield from (self._from_sampler(sample) for sample in pair if sample is not None)

    def _sizes(self) -> Iterator[Sample]:
        return every_size(self.spec, self.injected.integers, self.injected.sizes)

    def guarded_sizes(self) -> Iterator[Sample]:
        """Yield samples of all sizes that are known not to fulfil a condition of the graph."""
        between = DimSizes.of(self.spec).between
        for several in zip_longest(*(guard.others for guard in self.guards)):
            for seed, sizes in enumerate(several):
                if sizes is not None:
                    yield self._from_sampler(Sample({**between, **sizes}, Values.NORMAL, seed))

    def guarded(self) -> tuple[Sample, ...]:
        """Return samples of the sizes that the graph assumes not to occur, each size once."""
        lowest = DimSizes.of(self.spec).lowest
        planned = [sample.dims for sample in self.plan()]
        wanted: list[dict[str, int]] = []
        for guard in () if self.proven_graph else self.guards:
            for sizes in ({**lowest, **own} for own in guard.sizes):
                if sizes not in wanted and sizes not in planned:
                    wanted.append(sizes)
        samples = (Sample(sizes, Values.NORMAL, seed) for seed, sizes in enumerate(wanted))
        return self._with_sampler(samples)

    def guards_without(self, ran: Iterable[Mapping[str, int]]) -> list[SizeGuard]:
        """Return the guards of which no failing size is among those that ran."""
        lowest, sizes = DimSizes.of(self.spec).lowest, list(ran)
        guards = () if self.proven_graph or self.sampler is not None else self.guards
        return [
            guard for guard in guards if not any({**lowest, **own} in sizes for own in guard.sizes)
        ]

    def smallest_batch(self, batch: str) -> Sample | None:
        """Return the smallest planned sample of ordinary values with several rows."""
        samples = [
            sample
            for sample in self.plan()
            if sample.values in ORDINARY and sample.dims.get(batch, 0) > 1
        ]
        return min(samples, key=lambda one: volume(self.spec.inputs, one.dims), default=None)

    def _is_meaningful(self, sample: Sample) -> bool:
        if sample.values is Values.LIMITS:
            return any(reaches_limits(entry) for entry in self.spec.inputs)
        if sample.values is Values.FAR:
            return any(takes_far(entry) for entry in self.spec.inputs)
        if sample.values is Values.ALIKE:
            return have_dtype_in_common(self.spec.inputs)
        return sample.values not in NOT_FINITE or self._takes_nan()

    def _plan_injected(self) -> tuple[Sample, ...]:
        """Return the samples over which the injected values are distributed, seeds from 0.

        Many values, such as all rows of a table, are injected at the largest sizes.
        """
        dims, inputs = DimSizes.of(self.spec), self.spec.inputs
        samples: list[Sample] = []
        if has_values(inputs, self.injected):
            sizes = dims.between
            count = sample_count(inputs, sizes, self.injected)
            if count > FEW and volume(inputs, dims.highest) <= LARGEST_VOLUME:
                sizes = dims.highest
                count = sample_count(inputs, sizes, self.injected)
            samples += [Sample(sizes, Values.INJECTED, number) for number in range(count)]
        if has_named(inputs, self.injected):
            large = volume(inputs, dims.highest) <= LARGEST_VOLUME
            sizes = dims.highest if large else dims.between
            named = [Sample(sizes, Values.NAMED, number) for number in range(NAMED_SAMPLES)]
            samples[FEW:FEW] = named
        if has_scales(inputs, self.injected.scales):
            scaled = [
                Sample(dims.between, Values.SCALED, number) for number in range(SCALED_SAMPLES)
            ]
            samples = [*scaled, *samples]
        return tuple(samples)

    def _smallest_injected(self) -> tuple[Sample, ...]:
        """Return samples of injected values for models of any speed, at the smallest sizes."""
        lowest = DimSizes.of(self.spec).lowest
        samples = []
        if has_values(self.spec.inputs, self.injected):
            samples += [Sample(lowest, Values.INJECTED, number) for number in (0, 1)]
        if has_named(self.spec.inputs, self.injected):
            samples.append(Sample(lowest, Values.NAMED, NAMED_SAMPLES))
        if has_scales(self.spec.inputs, self.injected.scales):
            samples.append(Sample(lowest, Values.SCALED, 0))
        return tuple(samples)

    def _takes_nan(self) -> bool:
        return any(takes_nan(entry) for entry in self.spec.inputs)

    def arrays(self, sample: Sample) -> dict[str, Array]:
        """Return the arrays of a sample, by the name of the input. Raises ExportFailure."""
        if sample.values is Values.GOLDEN:
            return self.golden[sample.seed].inputs
        if self.sampler is not None:
            return self.sampler(sample)
        drawn = draw(self.spec.inputs, sample)
        masks = {entry.name: drawn[entry.name] for entry in self.spec.inputs if is_mask(entry)}
        return {**self._with_numbers(sample, drawn), **masks}

    def _with_numbers(self, sample: Sample, arrays: dict[str, Array]) -> dict[str, Array]:
        """Return drawn arrays with the numbers that the kind of sample puts into them."""
        inputs = self.spec.inputs
        match sample.values:
            case Values.INJECTED:
                return inject(inputs, arrays, self.injected, number=sample.seed)
            case Values.LOOKUPS:
                part, table = divmod(sample.seed, len(self.lookups))
                return look_up(inputs, arrays, self.lookups[table], part)
            case Values.SCALED:
                return draw_at_scales(inputs, arrays, self.injected.scales, sample.seed)
            case Values.NAMED:
                return inject_named(inputs, arrays, self.injected, sample.seed)
        if sample.values not in NOT_FINITE:
            return arrays
        if sample.seed % 2 and has_named(inputs, self.injected):
            # NaN may matter only beside a number that the model compares with.
            arrays = inject_named(inputs, arrays, self.injected, sample.seed)
        return inject_not_finite(inputs, arrays, sample)

    def outputs(self, sample: Sample) -> Mapping[str, Array]:
        """Return the outputs that were recorded with a golden sample, by name; empty for others."""
        return self.golden[sample.seed].outputs if sample.values is Values.GOLDEN else {}

    def _with_sampler(self, samples: Iterable[Sample]) -> tuple[Sample, ...]:
        return tuple(map(self._from_sampler, samples))

    def _from_sampler(self, sample: Sample) -> Sample:
        """Return the sample; with a sampler, of its sizes and values that the sampler draws."""
        if self.sampler is None:
            return sample
        return Sample(sample.dims, Values.SAMPLER, sample.seed)


def samples_of_task(
    task: ExportTask,
    spec: ModelExportSpec,
    converted: ConvertedModel,
    named: tuple[float, ...],
    sampler: Sampler | None,
) -> SampleSource:
    """Return the source of a task's samples. Raises ExportFailure.

    `spec`: with the inputs of the graph. `named`: the numbers in the model's code.
    """
    golden = read_golden(task.golden_inputs, spec) if task.golden_inputs else ()
    ranges = [entry.range for entry in spec.inputs if entry.range is not None]
    bases = [base for low, high in ranges for base in (low, high, low / 2 + high / 2)]
    found = find_injected_values(converted.model_path, bases)
    return SampleSource(
        spec,
        golden=golden,
        injected=replace(found, named=named, lost=named if task.rung is Rung.TRACE else ()),
        sampler=sampler,
        proven_graph=task.proven_graph,
        guards=converted.guards,
    )
