"""How close two values have to be to match: pure."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from modelexport_exporter.verification.numerics.tolerance import UNCALIBRATED

QUANTIZED = 5e-2
"""For a file that computes with bytes; for others `UNCALIBRATED` of the coarsest dtype, as for
outputs."""
_FINEST = 0.1
"""For a small error of the outputs, values must match within this share of it."""
_QUIET = 0.5
"""The share of an output's allowed error that right values are expected to stay within."""


def tolerances(
    floats: Collection[str],
    off: Sequence[float],
    allowed: Sequence[float],
    *,
    quantized: bool,
) -> list[float]:
    """Return the relative errors up to which values match, in the order of the attempts.

    The first follows the error of the outputs and what their noise allows, because a dtype of one
    value would hide a small fault elsewhere. Values inside may be noisier than the outputs: then
    nothing is proven with it, and the tolerance of the coarsest dtype follows.

    `floats`: dtypes of both runs; `off`: the errors of the wrong outputs, `allowed`: what is
    allowed in them, all relative to the peak.
    """
    floors = {UNCALIBRATED.get(dtype, 0.0) for dtype in floats}
    if quantized:
        floors.add(QUANTIZED)
    floor = max(floors, default=0.0) or UNCALIBRATED["float32"]
    least = min(off, default=1.0)
    coarse = min(floor, max(floor, least) * _FINEST)
    fine = max(least * _FINEST, min(allowed, default=0.0) * _QUIET)
    return [fine, coarse] if fine < coarse else [coarse]
