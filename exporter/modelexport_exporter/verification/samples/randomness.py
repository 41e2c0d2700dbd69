"""Whether eager PyTorch itself gives two answers to one sample, and how that is told."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from numpy.typing import NDArray

from modelexport_exporter.core.types import OutputComparison
from modelexport_exporter.verification.numerics.compare import compare_output
from modelexport_exporter.verification.numerics.tolerance import Tolerance
from modelexport_exporter.verification.verdict import NOT_DETERMINISTIC

Array = NDArray[Any]


def distance(first: list[Array], second: list[Array]) -> float:
    """Return how far two runs of eager on one sample are apart: 0 where it is deterministic."""
    exactly = Tolerance(0.0, 0.0, "Default")
    compared = [
        compare_output("", one, two, exactly) for one, two in zip(first, second, strict=False)
    ]
    return max((max(item.max_abs_error, 1e-300) for item in compared if item.problem), default=0.0)


def told_to_be_random(outputs: list[OutputComparison], by: float) -> list[OutputComparison]:
    """Say of what differs that eager itself gives another answer to the same sample."""
    note = f" ({NOT_DETERMINISTIC} in two runs, by {by:.3g})"
    return [
        replace(item, problem=item.problem + note) if item.problem else item for item in outputs
    ]
