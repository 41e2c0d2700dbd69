"""The accuracy lost to a precision: per output, over the ordinary samples.

Reported next to the verdict: the verdict states that the file loses no more than its precision
explains, this how much that is.
"""

from __future__ import annotations

from dataclasses import dataclass

from modelexport_api.spec import Precision


@dataclass(frozen=True)
class AccuracyLoss:
    """What one output lost against eager PyTorch, relative to the output's largest value."""

    output: str
    max_rel_error: float
    mean_rel_error: float
    top1: float | None
    """The share of rows whose largest element is at the same position; None without rows."""
    rows: int


def describe_refusal(
    precision: Precision, losses: tuple[AccuracyLoss, ...], noise: float | None
) -> tuple[str, str]:
    """Return message and hint for a refused file of reduced precision.

    `noise`: what eager PyTorch loses in a simulation of the precision, as far as that ran.
    """
    worst = max(losses, key=lambda entry: entry.max_rel_error, default=None)
    loss = (
        f"{worst.output} loses up to {worst.max_rel_error:.2g} of its largest value on ordinary "
        f"samples, {worst.mean_rel_error:.2g} on average"
        if worst
        else "nothing of it could be compared"
    )
    simulated = f"; eager PyTorch in a simulation of it loses {noise:.2g}" if noise else ""
    ways = {
        Precision.FLOAT16: "Set export.precision to BFloat16 (larger numbers, on a GPU) or Native",
        Precision.BFLOAT16: "Set export.precision to Float16 (more digits) or Native",
        Precision.DYNAMIC_INT8: "Set export.precision to StaticInt8 with calibrationInputs like "
        "those in production, or to Float16",
        Precision.STATIC_INT8: "Give calibrationInputs that cover all values in use, declare "
        "their range in inputs[].range; or set export.precision to DynamicInt8 or Float16",
    }
    hint = (
        f"{ways.get(precision, 'Set export.precision to Native')}. If the loss is acceptable, set "
        "verification.tolerance; if Native is refused, too, the conversion is at fault."
    )
    return f" In {precision.value}, {loss}{simulated}.", hint
