"""In which arithmetic an output was computed: plain values, without torch."""

from __future__ import annotations

from typing import NamedTuple

EXACT, RESAMPLED = "exact", "resampled"
"""Not computed at all; and float64 in which onnxruntime computes coordinates in float32."""
COARSENESS = {
    EXACT: 0,
    "float64": 1,
    RESAMPLED: 2,
    "float32": 3,
    "float16": 4,
    "bfloat16": 5,
}


class Arithmetic(NamedTuple):
    """What leads to an output."""

    dtype: str
    """The coarsest dtype that it was computed in."""
    bounded: bool = False
    """Whether its numbers are results of a bounded function, moved or selected."""
