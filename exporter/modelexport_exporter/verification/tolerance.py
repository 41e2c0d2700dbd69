"""How far an output may be from eager PyTorch: explicit limits, or a floor for each dtype.

A limit is relative to the output's peak, the largest finite magnitude that eager computes: an
element-wise relative limit refuses right results that cross zero (bilinear upsampling), a fixed
absolute one accepts anything from an output that is small.

Where the floors come from. Two right implementations of one network differ by rounding: the order
of summation, fused kernels, polynomial exp and erf. Rounding errors add up like a random walk: over
n operations of unit roundoff u they reach about u * sqrt(n) of the values' size, and a deep network
amplifies them a few times.
- float32 (u = 6e-8): an output depends on chains of some 1e4 to 1e5 roundings, u * 300 = 2e-5;
  resampling multiplies coordinates of a few hundred by u as well. Measured: 1e-6 for ResNet-50,
  3e-6 for a 6-layer sentence encoder, 3e-5 for bilinear and bicubic upsampling. Floor 1e-4. A wrong
  conversion is off by 1e-2 and more.
- float64 (u = 1e-16): the same chains end below 1e-12, but onnxruntime resamples in float32
  coordinates, and constants of a float64 model that became float32 (1e-8) are a loss that must be
  seen. Floor 1e-9.
- float16 (u = 5e-4) and bfloat16 (u = 4e-3): onnxruntime rounds after other operations than eager
  does, and both accumulate in float32, so only roundings between layers count: u * 20 and u * 12.
  Measured in float16: 9e-4 for ResNet-18 and for upsampling. Floors 1e-2 and 5e-2.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from modelexport_api.spec import Tolerance as SpecTolerance

FLOORS: dict[str, float] = {
    "float64": 1e-9,
    "float32": 1e-4,
    "float16": 1e-2,
    "bfloat16": 5e-2,
}


@dataclass(frozen=True)
class Tolerance:
    """The error allowed for an output of floating-point numbers: atol + rtol * peak."""

    rtol: float
    atol: float
    source: Literal["Default", "Spec"]

    def limit(self, peak: float) -> float:
        """Return the absolute error that is allowed for an output with this peak."""
        return self.atol + self.rtol * peak


def choose_tolerance(
    declared: SpecTolerance | None, output_dtype: str, computed_in: Iterable[str] = ()
) -> Tolerance:
    """Return the tolerance of an output.

    `computed_in`: the floating-point types of the model's weights and inputs. A float32 output of
    weights in float16 is no more precise than these.
    """
    if declared is not None:
        return Tolerance(declared.rtol, declared.atol, "Spec")
    floors = [FLOORS[dtype] for dtype in (output_dtype, *computed_in) if dtype in FLOORS]
    return Tolerance(max(floors, default=0.0), 0.0, "Default")
