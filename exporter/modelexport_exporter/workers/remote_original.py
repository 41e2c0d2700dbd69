"""The original model as the judge sees it: it answers from a process of its own."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from modelexport_exporter.core.blame import Blame
from modelexport_exporter.core.comparison import SampleComparison
from modelexport_exporter.core.errors import ExportFailure
from modelexport_exporter.core.machine import busy_seconds, peak_memory
from modelexport_exporter.core.outcome import NotCompared
from modelexport_exporter.core.pitfall import Pitfall
from modelexport_exporter.core.providers import GPU
from modelexport_exporter.core.sample import Sample
from modelexport_exporter.core.types import ConvertedModel
from modelexport_exporter.isolation.peer import Asker, Handler
from modelexport_exporter.sampling.lookups import Lookups
from modelexport_exporter.verification.numerics.arithmetic import Arithmetic
from modelexport_exporter.verification.original import Facts, FileSides
from modelexport_exporter.verification.samples.sample_source import SampleSource
from modelexport_exporter.verification.seeking.found import Found
from modelexport_exporter.verification.shapes.observed import EagerShapes, Shape
from modelexport_exporter.verification.treatment_of_nan import TreatmentOfNan
from modelexport_exporter.workers.original_calls import (
    ANSWERS,
    COMPARE,
    QUESTIONS,
    SIDES_MISSING,
    SIDES_OPEN,
    SIDES_REACH,
)

Array = NDArray[Any]
Arrays = Mapping[str, Array]


class RemoteOriginal:
    """Asks the process of the original model."""

    def __init__(self, asker: Asker) -> None:
        self._asker = asker

    def _ask(self, method: str, *arguments: object) -> Any:  # noqa: ANN401
        return self._asker.ask(method, arguments, ANSWERS[method])

    @cached_property
    def facts(self) -> Facts:
        """Return what is known of it, when it is loaded. Raises ExportFailure."""
        found: Facts = self._ask("facts")
        return found

    def clock(self) -> float:
        """Return the seconds in which both processes were busy."""
        if self.facts.provider in GPU:
            return time.monotonic()
        return busy_seconds() + self._asker.busy

    def peak_memory(self) -> int:
        """Return the largest resident size of both processes, in bytes."""
        return peak_memory() + self._asker.peak

    def draw(self, sample: Sample) -> dict[str, Array]:
        """Return the arrays of the user's sampler."""
        drawn: dict[str, Array] = self._ask("draw", sample)
        return drawn

    def lookups(self, path: Path, arrays: Arrays) -> tuple[Lookups, ...]:
        """Return the rows of the file's tables that differ from the model's."""
        found: tuple[Lookups, ...] = self._ask("lookups", path, arrays)
        return found

    def weights(self, keys: Mapping[str, str]) -> dict[str, Array]:
        """Return tensors of the state_dict. `keys`: the key by the name of the input."""
        weights: dict[str, Array] = self._ask("weights", keys)
        return weights

    def begin(self, converted: ConvertedModel, samples: SampleSource) -> None:
        """Begin to watch runs for what samples do not reach of the model and the file."""
        self._ask("begin", converted, replace(samples, sampler=None))

    def check_repeatable(self) -> None:
        """Raise NotDeterministic if a call depends on earlier ones or on the order of a set."""
        self._ask("check_repeatable")

    def early_outputs(self, arrays: Arrays) -> list[Array] | None:
        """Return outputs that were computed before the file was there, at the first call."""
        outputs: list[Array] | None = self._ask("early_outputs", arrays)
        return outputs

    def run(self, arrays: Arrays, where: str) -> list[Array]:
        """Return the output tensors in order."""
        outputs: list[Array] = self._ask("run", arrays, where)
        return outputs

    @contextmanager
    def stable_rankings(self) -> Iterator[None]:
        """Rank equal values in the order of their positions, in all runs of the context."""
        self._ask("rank_stably", True)
        try:
            yield
        finally:
            self._ask("rank_stably", False)

    def accepts(self, arrays: Arrays) -> bool:
        """Return whether the model runs on these arrays."""
        accepted: bool = self._ask("accepts", arrays)
        return accepted

    def treatment_of_nan(self, arrays: Arrays) -> TreatmentOfNan:
        """Return how the model, called with these arrays, treats NaN and infinity."""
        found: TreatmentOfNan = self._ask("treatment_of_nan", arrays)
        return found

    def computed_in(self, arrays: Arrays) -> list[Arithmetic]:
        """Return for each output the arithmetic that leads to it."""
        found: list[Arithmetic] = self._ask("computed_in", arrays)
        return found

    def perturbed(self, arrays: Arrays, run: int) -> list[Array] | None:
        """Return the outputs in perturbed arithmetic; None where it does not run in it."""
        outputs: list[Array] | None = self._ask("perturbed", arrays, run)
        return outputs

    def with_kernel_errors(self, arrays: Arrays) -> list[Array] | None:
        """Return the outputs with the absolute errors of kernels; None where none has any."""
        outputs: list[Array] | None = self._ask("with_kernel_errors", arrays)
        return outputs

    def eager_shapes(self, arrays: Arrays) -> EagerShapes:
        """Return the shapes of outputs by sizes; numbers are taken from `arrays`."""
        self._ask("prepare_shapes", arrays)

        def at(sizes: Mapping[str, int]) -> Sequence[Shape] | None:
            shapes: Sequence[Shape] | None = self._ask("shapes_at", dict(sizes))
            return shapes

        return at

    def seek(
        self,
        results: list[SampleComparison],
        compare: Callable[[Found], None],
        sides: FileSides | None,
    ) -> None:
        """Compare inputs that reach more. `compare` adds to `results`, which has all so far."""

        def compared(found: Found) -> list[SampleComparison]:
            before = len(results)
            compare(found)
            return results[before:]

        functions: dict[str, Callable[[Any], object]] = {COMPARE: compared}
        if sides is not None:
            functions[SIDES_MISSING] = lambda _: sides.missing
            functions[SIDES_OPEN] = lambda _: sides.is_open
            functions[SIDES_REACH] = sides.reaches
        handlers = {name: Handler(own, QUESTIONS[name]) for name, own in functions.items()}
        arguments = (results, sides is not None)
        self._asker.ask("seek", arguments, ANSWERS["seek"], handlers)

    def not_compared(self) -> tuple[NotCompared, ...]:
        """Return what no sample reached."""
        found: tuple[NotCompared, ...] = self._ask("not_compared")
        return found

    def coverage(self) -> list[str]:
        """Return sentences on the branches of which both sides ran."""
        sentences: list[str] = self._ask("coverage")
        return sentences

    def pitfalls(self, *, not_deterministic: bool) -> tuple[Pitfall, ...]:
        """Return what the model's code shows of the cause of a difference."""
        found: tuple[Pitfall, ...] = self._ask("pitfalls", not_deterministic)
        return found

    def blame(self, converted: ConvertedModel, arrays: Arrays, limits: Sequence[float]) -> Blame:
        """Return the first node of the file that differs, by more than `limits` of the outputs."""
        found: Blame = self._ask("blame", converted, arrays, limits)
        return found

    def explained(self, failure: ExportFailure) -> ExportFailure:
        """Return the failure with the lines of the model's code that caused it."""
        try:
            self._ask("explained", failure)
        except ExportFailure as explained:
            return explained
        return failure
