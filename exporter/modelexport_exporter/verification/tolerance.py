"""How far an output may be from eager PyTorch: explicit limits, or limits that are calibrated.

A limit is relative to the output's peak, the largest finite magnitude that eager computes: an
element-wise relative limit refuses right results that cross zero (bilinear upsampling), a fixed
absolute one accepts anything from an output that is small.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from modelexport_api.spec import Tolerance as SpecTolerance

FLOORS: dict[str, float] = {
    "float64": 1e-9,
    "float32": 1e-6,
    "float16": 2e-3,
    "bfloat16": 1.6e-2,
}
UNCALIBRATED: dict[str, float] = {
    "float64": 1e-9,
    "float32": 1e-4,
    "float16": 1e-2,
    "bfloat16": 5e-2,
}
UNSETTLED: dict[str, float] = {
    "float64": 1e-6,
    "float32": 1e-3,
    "float16": 5e-2,
    "bfloat16": 2e-1,
}
MULTIPLE = 8.0

Source = Literal["Calibrated", "Default", "Spec"]


@dataclass(frozen=True)
class Tolerance:
    """The error allowed for an output of floating-point numbers: atol + rtol * peak."""

    rtol: float
    atol: float
    source: Source
    multiple: float = 0.0
    """How much more the artifact may err than the model errs by itself."""
    unsettled_from: float = float("inf")
    """An element that moves farther by the model's own rounding, relative to the peak, does not
    count."""

    def limit(self, peak: float) -> float:
        """Return the absolute error that is allowed for an output with this peak."""
        return self.atol + self.rtol * peak


def choose_tolerance(
    declared: SpecTolerance | None,
    output_dtype: str,
    computed_in: Iterable[str] = (),
    *,
    calibrated: bool = True,
) -> Tolerance:
    """Return the tolerance of an output.

    `computed_in`: the floating-point types of the model's weights and inputs. A float32 output of
    weights in float16 is no more precise than these. `calibrated`: whether the model runs with
    other roundings than its own.
    """
    if declared is not None:
        return Tolerance(declared.rtol, declared.atol, "Spec")
    dtypes = [dtype for dtype in (output_dtype, *computed_in) if dtype in FLOORS]
    if not dtypes:
        return Tolerance(0.0, 0.0, "Calibrated" if calibrated else "Default")
    if not calibrated:
        return Tolerance(max(UNCALIBRATED[dtype] for dtype in dtypes), 0.0, "Default")
    return Tolerance(
        max(FLOORS[dtype] for dtype in dtypes),
        0.0,
        "Calibrated",
        multiple=MULTIPLE,
        unsettled_from=max(UNSETTLED[dtype] for dtype in dtypes),
    )
