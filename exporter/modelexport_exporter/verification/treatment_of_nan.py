"""What a module does with NaN and infinity: plain values, without torch."""

from __future__ import annotations

from enum import Enum


class TreatmentOfNan(Enum):
    """What a module does with NaN and infinity."""

    TESTED = "tested"
    """It looks for them: they are expected inputs."""
    COMPUTED = "computed"
    """It computes with them."""
    FUSED = "fused"
    """It computes with them by ops of OWN_WAY."""
    ROUNDED = "rounded"
    """It makes integers of them, which are not specified, and computes with them elsewhere."""
    UNDEFINED = "undefined"
    """It reads values, which may halve an infinity for ever, or calls kernels of other libraries,
    which may crash: nobody expects it."""
