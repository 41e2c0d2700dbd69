"""What one input was fed in a verification: shapes, the range of its values, kinds of samples."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class TriedInput:
    """The values of one input in all samples that were compared."""

    name: str
    shapes: tuple[tuple[int, ...], ...]
    """Different ones, the first at most."""
    more_shapes: int
    low: float | None
    """Of the finite values; None without any."""
    high: float | None
    not_finite: int
    """Samples in which it had NaN or infinity."""
    kinds: tuple[str, ...]
    """What the samples were drawn from, in the order in which they ran."""
