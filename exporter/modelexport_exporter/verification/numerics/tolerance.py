"""The error allowed in an output: declared in the spec, or calibrated to the model's own noise.

A limit is relative to the output's peak, the largest finite magnitude that eager computes: an
element-wise relative limit refuses correct results that cross zero (bilinear upsampling), and a
fixed absolute one accepts anything from a small output.

Two correct implementations of one network differ by rounding: the order of summation, fused
kernels, polynomial exp and erf. So does the model in perturbed arithmetic (`noise_estimate`), which
is measured: over 6,600 comparisons of 73 correct models in float32 the error of the ONNX file was
at most 1.3 times that noise wherever it exceeded 1e-6 of the peak (docs/verdict.md). The limit is
MULTIPLE times the noise, and never less than a floor.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from modelexport_api.spec import Precision
from modelexport_api.spec import Tolerance as SpecTolerance

FLOORS: dict[str, float] = {
    "float64": 1e-12,
    "resampled": 1e-9,
    "float32": 4e-6,
    "float16": 5e-3,
    "bfloat16": 4e-2,
    "int8": 1e-2,
}
"""The smallest limit, relative to the peak: noise of few runs may be small by chance.

float32: 64 u, u = 6e-8 being the unit roundoff; the error of 99.9 % of the comparisons is below
5e-7. float16 and bfloat16: 10 u; onnxruntime rounds after other operations than eager does.
float64: 1e4 u; a constant of a float64 model that became float32 is an error of 1e-8, which must be
found. Where numbers were resampled in float64: 1e7 u, since onnxruntime computes their coordinates
in float32.
"""
UNCALIBRATED: dict[str, float] = {
    "float64": 1e-10,
    "resampled": 1e-9,
    "float32": 1e-4,
    "float16": 1e-2,
    "bfloat16": 5e-2,
    "int8": 1e-1,
}
"""The limit where the model does not run in perturbed arithmetic, relative to the peak.

An output depends on chains of some 1e4 to 1e5 roundings that add up like a random walk, u * 300 =
2e-5 in float32, and deep networks amplify them a few times; resampling multiplies coordinates of a
few hundred by u (5e-5 measured).
"""
UNSETTLED: dict[str, float] = {
    "float64": 1e-6,
    "resampled": 1e-6,
    "float32": 1e-3,
    "float16": 5e-2,
    "bfloat16": 2e-1,
    "int8": 2.5e-1,
}
"""An element that moves farther than this with rounding, relative to the peak, does not count.

The largest noise of a well-conditioned model in float32 was 4e-5; elements that depend on rounding
move by 1e-2 and more.
"""
MULTIPLE = 8.0
"""The artifact's error may be so many times the model's own rounding error."""

DIGITS: dict[str, float] = {"float64": 2.0**-51}
SINGLE_DIGITS = 2.0**-22
"""The smallest limit of results of a bounded function, absolute: 4 u of its range of 1.

onnxruntime's Sigmoid is off by 2.8 u of 1 in float32 and by 2 u in float64, however small its
result is (measured over [-40, 40]); in half types it computes in float32.
"""

OF_PRECISION = 4.0
"""The same where the file has a smaller precision than the model: its noise is no random rounding
error but the error of eager PyTorch in a simulation of the precision (docs/precision.md)."""
ELEMENTS = {
    Precision.FLOAT16: "float16",
    Precision.BFLOAT16: "bfloat16",
    Precision.DYNAMIC_INT8: "int8",
    Precision.STATIC_INT8: "int8",
}
"""The type that a file of another precision computes with. int8: u = 2e-3, half of one of 255
steps; noise of a quarter of the peak leaves nothing to compare."""

Source = Literal["Calibrated", "Default", "Spec"]


@dataclass(frozen=True)
class Tolerance:
    """The error allowed for an output of floating-point numbers: atol + rtol * peak."""

    rtol: float
    atol: float
    source: Source
    multiple: float = 0.0
    """The error may be so many times the model's own rounding error."""
    unsettled_from: float = float("inf")
    """An element that moves farther with rounding, relative to the peak, does not count."""

    def limit(self, peak: float) -> float:
        """Return the allowed absolute error of an output with this peak."""
        return self.atol + self.rtol * peak


def choose_tolerance(
    declared: SpecTolerance | None,
    output_dtype: str,
    computed_in: Iterable[str] = (),
    *,
    calibrated: bool = True,
    bounded: bool = False,
    precision: Precision = Precision.NATIVE,
) -> Tolerance:
    """Return the tolerance of an output.

    `computed_in`: the coarsest dtypes of the arithmetic that leads to the output; a float32 output
    of sums in float16 is no more precise than these. `calibrated`: whether the model runs in
    perturbed arithmetic. `bounded`: whether its numbers are results of a bounded function.
    `precision`: of the file.
    """
    if declared is not None:
        return Tolerance(declared.rtol, declared.atol, "Spec")
    dtypes = [dtype for dtype in (output_dtype, *computed_in) if dtype in FLOORS]
    if dtypes and precision in ELEMENTS:
        dtypes.append(ELEMENTS[precision])
    if not dtypes:
        return Tolerance(0.0, 0.0, "Calibrated" if calibrated else "Default")
    coarsest = max(dtypes, key=FLOORS.__getitem__)
    atol = DIGITS.get(coarsest, SINGLE_DIGITS) if bounded else 0.0
    if not calibrated:
        return Tolerance(max(UNCALIBRATED[dtype] for dtype in dtypes), atol, "Default")
    return Tolerance(
        FLOORS[coarsest],
        atol,
        "Calibrated",
        multiple=OF_PRECISION if precision in ELEMENTS else MULTIPLE,
        unsettled_from=max(UNSETTLED[dtype] for dtype in dtypes),
    )
