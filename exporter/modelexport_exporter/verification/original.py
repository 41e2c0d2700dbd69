"""What the judge asks of the original model.

The model's code may do anything in its process, so the judge has no module: it has this. Whoever
answers can say wrongly what the model is, and nothing else.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from numpy.typing import NDArray

from modelexport_api.spec import Input, Provider
from modelexport_exporter.core.blame import Blame
from modelexport_exporter.core.comparison import SampleComparison
from modelexport_exporter.core.errors import ExportFailure
from modelexport_exporter.core.outcome import NotCompared
from modelexport_exporter.core.pitfall import Pitfall
from modelexport_exporter.core.sample import Sample
from modelexport_exporter.core.types import ConvertedModel
from modelexport_exporter.sampling.lookups import Lookups
from modelexport_exporter.verification.numerics.arithmetic import Arithmetic
from modelexport_exporter.verification.samples.sample_source import SampleSource
from modelexport_exporter.verification.seeking.found import Found
from modelexport_exporter.verification.shapes.observed import EagerShapes
from modelexport_exporter.verification.treatment_of_nan import TreatmentOfNan

Array = NDArray[Any]
Arrays = Mapping[str, Array]


@dataclass(frozen=True)
class Facts:
    """What is known of a model when it is loaded."""

    provider: Provider
    inputs: tuple[Input, ...]
    """Those of the graph, with ranges that were searched for."""
    outputs: tuple[str, ...]
    named: tuple[int | float, ...] = ()
    """The numbers in the model's code."""
    float_dtypes: frozenset[str] = frozenset()
    """Of weights, buffers and inputs."""


class FileSides(Protocol):
    """The sides of If nodes that runs of the file took."""

    @property
    def missing(self) -> list[tuple[int, int]]:
        """Return the sides that values decide on, that compute, and that no run took."""

    @property
    def is_open(self) -> bool:
        """Return whether a side that computes was not taken, whatever decides on it."""

    def reaches(self, arrays: Arrays) -> bool:
        """Return whether a run on these inputs takes a side that computes, for the first time."""


class Original(Protocol):
    """The original model. Every method may raise ExportFailure."""

    @property
    def facts(self) -> Facts:
        """Return what is known of it."""

    def clock(self) -> float:
        """Return the seconds in which this verification was busy."""

    def peak_memory(self) -> int:
        """Return the largest resident size that this verification has had, in bytes."""

    def draw(self, sample: Sample) -> dict[str, Array]:
        """Return the arrays of the user's sampler."""

    def lookups(self, path: Path, arrays: Arrays) -> tuple[Lookups, ...]:
        """Return the rows of the file's tables that differ from the model's, run on `arrays`."""

    def weights(self, keys: Mapping[str, str]) -> dict[str, Array]:
        """Return tensors of the state_dict. `keys`: the key by the name of the input."""

    def begin(self, converted: ConvertedModel, samples: SampleSource) -> None:
        """Begin to watch runs for what samples do not reach of the model and the file."""

    def check_repeatable(self) -> None:
        """Raise NotDeterministic if a call depends on earlier ones or on the order of a set."""

    def early_outputs(self, arrays: Arrays) -> list[Array] | None:
        """Return outputs that were computed before the file was there, at the first call."""

    def run(self, arrays: Arrays, where: str) -> list[Array]:
        """Return the output tensors in order; `where` describes the arrays in a message."""

    def stable_rankings(self) -> AbstractContextManager[None]:
        """Rank equal values in the order of their positions, in all runs of the context."""

    def accepts(self, arrays: Arrays) -> bool:
        """Return whether the model runs on these arrays."""

    def treatment_of_nan(self, arrays: Arrays) -> TreatmentOfNan:
        """Return how the model, called with these arrays, treats NaN and infinity."""

    def computed_in(self, arrays: Arrays) -> list[Arithmetic]:
        """Return for each output the arithmetic that leads to it."""

    def perturbed(self, arrays: Arrays, run: int) -> list[Array] | None:
        """Return the outputs in perturbed arithmetic; None where it does not run in it.

        `run`: counts from 0, which is float64 where no precision is simulated.
        """

    def with_kernel_errors(self, arrays: Arrays) -> list[Array] | None:
        """Return the outputs with the absolute errors of kernels; None where none has any."""

    def eager_shapes(self, arrays: Arrays) -> EagerShapes:
        """Return the shapes of outputs by sizes; numbers are taken from `arrays`."""

    def seek(
        self,
        results: list[SampleComparison],
        compare: Callable[[Found], None],
        sides: FileSides | None,
    ) -> None:
        """Compare inputs that reach more. `compare` adds to `results`, which has all so far."""

    def not_compared(self) -> tuple[NotCompared, ...]:
        """Return what no sample reached."""

    def coverage(self) -> list[str]:
        """Return sentences on the branches of which both sides ran."""

    def pitfalls(self, *, not_deterministic: bool) -> tuple[Pitfall, ...]:
        """Return what the model's code shows of the cause of a difference."""

    def blame(self, converted: ConvertedModel, arrays: Arrays, limits: Sequence[float]) -> Blame:
        """Return the first node of the file that differs, by more than `limits` of the outputs."""

    def explained(self, failure: ExportFailure) -> ExportFailure:
        """Return the failure with the lines of the model's code that caused it."""
