"""What comparisons of the file with eager PyTorch found: plain and immutable."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum

from modelexport_exporter.core.sample import Values, label


def limit_share(error: float, limit: float, *, wrong: bool) -> float:
    """Return an error as a share of its limit; infinite for what no tolerance covers."""
    if not math.isfinite(error):
        return math.inf
    share = error / limit if limit > 0 else (math.inf if error > 0 else 0.0)
    return math.inf if wrong and share <= 1 else share


class ProblemKind(StrEnum):
    """How an output of the file differs from eager's."""

    OUTPUT_COUNT = "number of outputs"
    DTYPE = "dtype"
    SHAPE = "shape"
    NOT_FINITE = "NaN and infinities"
    """NaN or infinities at other positions, while all finite elements are within the limit."""
    VALUES = "values"
    GOLDEN = "golden output"
    """Eager PyTorch does not return the recorded output."""
    NOT_DETERMINISTIC = "eager PyTorch"
    """Two eager runs of the same sample differ."""


NO_TOLERANCE = frozenset({ProblemKind.DTYPE, ProblemKind.SHAPE, ProblemKind.NOT_FINITE})
"""Differences that no tolerance covers."""


@dataclass(frozen=True)
class Problem:
    """A difference between an output and eager's: the kind decides, the text is for the user."""

    kind: ProblemKind
    text: str


@dataclass(frozen=True)
class OutputComparison:
    """One output of one sample: ONNX against eager."""

    output: str
    max_abs_error: float
    max_rel_error: float
    """Relative to the largest finite magnitude of eager's output; where the inputs are degenerate,
    at least to that on ordinary ones."""
    limit: float
    """The absolute error that was allowed; 0 for integer and boolean outputs."""
    problem: Problem | None = None
    """None if the outputs agree."""
    noise: float | None = None
    """The model's own rounding error, relative to the peak; None where it was not measured."""
    errors: int = 0
    """Number of elements beyond the limit."""
    unsettled: int = 0
    """Number of elements that change with the model's own rounding; they do not count."""
    inconclusive: str = ""
    """Why this sample decides nothing about the output; empty where it is conclusive."""
    has_elements: bool = True
    """Whether there was anything to compare; a shape and a dtype alone agree with most files."""
    all_nan: bool = False
    """Whether all elements are NaN in both, as where a mask leaves nothing: that shows nothing."""


@dataclass(frozen=True)
class SampleComparison:
    """One set of inputs: ONNX against eager."""

    dims: dict[str, int]
    seed: int
    outputs: tuple[OutputComparison, ...]
    values: Values = Values.NORMAL
    reordered: bool = False
    """Whether eager ranked equal values in the order of ONNX, which its own ops do not specify."""

    @property
    def differs(self) -> bool:
        """Return whether an output disagrees with eager."""
        return any(output.problem for output in self.outputs)

    @property
    def label(self) -> str:
        """Return the name of the values in messages and reports."""
        return label(self.values, self.seed, reordered=self.reordered)
