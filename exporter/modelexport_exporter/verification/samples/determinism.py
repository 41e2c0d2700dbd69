"""Whether eager PyTorch returns the same outputs for the same sample twice."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from numpy.typing import NDArray

from modelexport_exporter.core.comparison import OutputComparison, Problem, ProblemKind
from modelexport_exporter.verification.numerics.compare import compare_output
from modelexport_exporter.verification.numerics.tolerance import Tolerance

Array = NDArray[Any]


def distance(first: list[Array], second: list[Array]) -> float:
    """Return the largest absolute difference of two eager runs; 0 if they are equal."""
    exactly = Tolerance(0.0, 0.0, "Default")
    compared = [
        compare_output("", one, two, exactly) for one, two in zip(first, second, strict=False)
    ]
    return max((max(item.max_abs_error, 1e-300) for item in compared if item.problem), default=0.0)


def mark_not_deterministic(
    outputs: list[OutputComparison], difference: float
) -> list[OutputComparison]:
    """Return the outputs; problems become NOT_DETERMINISTIC, with the difference in their text."""
    note = f" (eager PyTorch differs from itself in two runs, by {difference:.3g})"
    return [
        replace(item, problem=Problem(ProblemKind.NOT_DETERMINISTIC, item.problem.text + note))
        if item.problem
        else item
        for item in outputs
    ]
