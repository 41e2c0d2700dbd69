"""How far an output may be from eager PyTorch: explicit limits, or limits that are calibrated.

A limit is relative to the output's peak, the largest finite magnitude that eager computes: an
element-wise relative limit refuses right results that cross zero (bilinear upsampling), a fixed
absolute one accepts anything from an output that is small.

Two right implementations of one network differ by rounding: the order of summation, fused kernels,
polynomial exp and erf. So does the model from itself when it is rounded otherwise (`spread`), and
that is measured: over 6,600 comparisons of 73 right models in float32 the error of the ONNX file
was at most 1.3 times that noise wherever it exceeded 1e-6 of the peak (docs/verdict.md). The limit
is MULTIPLE times the noise, and never less than a floor.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from modelexport_api.spec import Precision
from modelexport_api.spec import Tolerance as SpecTolerance

FLOORS: dict[str, float] = {
    "float64": 1e-9,
    "float32": 4e-6,
    "float16": 5e-3,
    "bfloat16": 4e-2,
    "int8": 1e-2,
}
"""The least limit, relative to the peak: noise is measured on few runs and may be small by luck.

float32: 64 u, u = 6e-8 being the unit roundoff; the error of 99.9 % of the comparisons is below
5e-7. float16 and bfloat16: 10 u; onnxruntime rounds after other operations than eager does.
float64: 1e7 u, since onnxruntime resamples in float32 coordinates; a constant of a float64 model
that became float32 is a loss of 1e-8, which must be seen.
"""
UNCALIBRATED: dict[str, float] = {
    "float64": 1e-9,
    "float32": 1e-4,
    "float16": 1e-2,
    "bfloat16": 5e-2,
    "int8": 1e-1,
}
"""The limit where the model cannot be run with other roundings.

An output depends on chains of some 1e4 to 1e5 roundings that add up like a random walk, u * 300 =
2e-5 in float32, and deep networks amplify them a few times; resampling multiplies coordinates of a
few hundred by u (5e-5 measured).
"""
UNSETTLED: dict[str, float] = {
    "float64": 1e-6,
    "float32": 1e-3,
    "float16": 5e-2,
    "bfloat16": 2e-1,
    "int8": 2.5e-1,
}
"""An element that moves farther than this by the model's own rounding says nothing.

The largest noise of a well-conditioned model in float32 was 4e-5; what hangs on rounding moves by
1e-2 and more.
"""
MULTIPLE = 8.0
"""How much more than the model itself the artifact may err."""

OF_PRECISION = 4.0
"""The same where the file has a smaller precision than the model: its noise is not rounding by
chance but a loss that eager PyTorch in a simulation of the precision shows (docs/precision.md)."""
ELEMENTS = {
    Precision.FLOAT16: "float16",
    Precision.BFLOAT16: "bfloat16",
    Precision.DYNAMIC_INT8: "int8",
    Precision.STATIC_INT8: "int8",
}
"""What a file of another precision computes with. int8: u = 2e-3, half of one of 255 steps; noise
of a quarter of the peak leaves nothing to compare."""

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
    precision: Precision = Precision.NATIVE,
) -> Tolerance:
    """Return the tolerance of an output.

    `computed_in`: the floating-point types of the model's weights and inputs. A float32 output of
    weights in float16 is no more precise than these. `calibrated`: whether the model runs with
    other roundings than its own. `precision`: what the file computes in.
    """
    if declared is not None:
        return Tolerance(declared.rtol, declared.atol, "Spec")
    dtypes = [dtype for dtype in (output_dtype, *computed_in) if dtype in FLOORS]
    if dtypes and precision in ELEMENTS:
        dtypes.append(ELEMENTS[precision])
    if not dtypes:
        return Tolerance(0.0, 0.0, "Calibrated" if calibrated else "Default")
    if not calibrated:
        return Tolerance(max(UNCALIBRATED[dtype] for dtype in dtypes), 0.0, "Default")
    return Tolerance(
        max(FLOORS[dtype] for dtype in dtypes),
        0.0,
        "Calibrated",
        multiple=OF_PRECISION if precision in ELEMENTS else MULTIPLE,
        unsettled_from=max(UNSETTLED[dtype] for dtype in dtypes),
    )
