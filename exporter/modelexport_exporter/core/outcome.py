"""What a verification ends with: its evidence, and what it did not reach. Plain and immutable."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from modelexport_api.status import VerificationResult
from modelexport_exporter.core.accuracy_loss import AccuracyLoss
from modelexport_exporter.core.blame import Blame
from modelexport_exporter.core.comparison import (
    OutputComparison,
    Problem,
    ProblemKind,
    SampleComparison,
)
from modelexport_exporter.core.pitfall import Pitfall
from modelexport_exporter.core.providers import Fallback
from modelexport_exporter.core.tried_input import TriedInput
from modelexport_exporter.core.types import ConvertedModel, SizeGuard


class Unreached(StrEnum):
    """What no sample reached."""

    ELEMENTS = "elements"
    """An output was empty in all samples."""
    NUMBERS = "numbers"
    """An output was NaN in all elements of all samples."""
    SIDE = "side"
    """A branch on values went the same way in all samples, and the graph holds that way only."""
    NUMBER = "number"
    """Python computed with a value of the capture's inputs, and the graph holds the result."""
    SIDE_OF_FILE = "side of the file"
    """A branch on values that the file holds both sides of went the same way in all samples."""
    SIZE = "size"
    """Sizes for which the graph was not made were too costly to run."""


@dataclass(frozen=True)
class NotCompared:
    """A part of the model that no sample reached: the kind decides, the subject is for the user."""

    kind: Unreached
    subject: str
    """`output boxes`, or ``net.py:12: `if x.max() > 400:```."""

    def __str__(self) -> str:
        if self.kind is Unreached.ELEMENTS:
            return f"{self.subject} had no elements in any sample"
        if self.kind is Unreached.NUMBERS:
            return f"{self.subject} was NaN in all elements of all samples"
        if self.kind is Unreached.NUMBER:
            return f"{self.subject} computes with a value in Python: the file holds one result"
        if self.kind is Unreached.SIDE_OF_FILE:
            return f"{self.subject} ran in no sample"
        if self.kind is Unreached.SIZE:
            return f"{self.subject} was not compared where it fails: those sizes cost too much"
        return f"{self.subject} went the same way in all samples"


@dataclass(frozen=True)
class Unanswered:
    """Why a verification has no outcome: another process ended, or what it said is no answer."""

    invalid: str = ""
    """What it said; empty if it ended."""


@dataclass(frozen=True)
class VerificationOutcome:
    """The verdict and its evidence."""

    summary: VerificationResult
    samples: tuple[SampleComparison, ...]
    seconds: float
    left_out: tuple[str, ...] = ()
    """A sentence for each sample that did not run because it would have cost too much."""
    pitfalls: tuple[Pitfall, ...] = ()
    """After a mismatch: lines of the model that may have caused it."""
    blame: Blame | None = None
    """After a mismatch: the first node that computes something else."""
    losses: tuple[AccuracyLoss, ...] = ()
    """What a precision that is not the model's own costs, by output."""
    fallbacks: tuple[Fallback, ...] = ()
    """Nodes that ran on another provider than the one that was asked for."""
    output_shapes: dict[str, tuple[int | str, ...]] = field(default_factory=dict)
    """Shapes of outputs by name, as the session states them: it infers more than files say."""
    guards: tuple[SizeGuard, ...] = ()
    """What the graph assumes of its sizes."""
    not_compared: tuple[NotCompared, ...] = ()
    """What no sample reached."""
    converted: ConvertedModel | None = None
    """The file as it is after the verification: with true shapes of its outputs."""
    tried: tuple[TriedInput, ...] = ()
    """What the inputs of all samples were, by input."""
    rows_independent: bool | None = None
    """Whether rows of a batch do not affect each other; None: not measured."""

    @property
    def not_deterministic(self) -> bool:
        """Return whether the first difference is one between two eager runs."""
        found = self.first_problem
        return found is not None and found[2].kind is ProblemKind.NOT_DETERMINISTIC

    def differs_at(self, sizes: Mapping[str, int]) -> bool:
        """Return whether a sample of these sizes differs, or one of any sizes in its dtype."""
        return any(
            output.problem and (entry.dims == sizes or output.problem.kind is ProblemKind.DTYPE)
            for entry in self.samples
            for output in entry.outputs
        )

    @property
    def first_problem(self) -> tuple[SampleComparison, OutputComparison, Problem] | None:
        """Return the first output that disagrees with eager, with its sample."""
        for sample in self.samples:
            for output in sample.outputs:
                if output.problem:
                    return sample, output, output.problem
        return None
