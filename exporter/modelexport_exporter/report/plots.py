"""The geometry of the plots: pure. Positions are percent of the width: a plot fits any page.

Errors are drawn as shares of what is allowed, on a logarithmic axis: one line is the tolerance of
every output, whatever its magnitude. The lane at the left is for no error at all, the one at the
right for what no tolerance covers: NaN, infinities, another shape or dtype, integers that differ.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from modelexport_exporter.report.text import power

NONE_LANE, BEYOND_LANE = 2.5, 97.5
_FIRST, _LAST = 11.0, 88.0
_DEEPEST, _HIGHEST = -12, 6
_LABELS = 5
_LOWEST_TOP = -3
ROW_HEIGHT, TALLEST = 22.0, 40.0
_MARGIN = 6.0


class Shape(StrEnum):
    """How a comparison is drawn."""

    AGREES = "agrees"
    DIFFERS = "differs"
    INCONCLUSIVE = "inconclusive"


@dataclass(frozen=True)
class Tick:
    """A labelled position."""

    x: float
    label: str
    is_limit: bool = False


@dataclass(frozen=True)
class Axis:
    """From 10**low to 10**high times the limit."""

    low: int
    high: int
    ticks: tuple[Tick, ...]

    def place(self, ratio: float) -> float:
        """Return the position of a share of the limit, in percent of the width."""
        if ratio <= 0:
            return NONE_LANE
        if not math.isfinite(ratio):
            return BEYOND_LANE
        exponent = min(max(math.log10(ratio), self.low), self.high)
        part = (exponent - self.low) / (self.high - self.low)
        return round(_FIRST + part * (_LAST - _FIRST), 2)

    @property
    def limit(self) -> float:
        """Return the position of the tolerance, in percent of the width."""
        return self.place(1.0)


def axis_of(ratios: Iterable[float]) -> Axis:
    """Return an axis of whole decades around the limit and every finite share."""
    exponents = [math.log10(ratio) for ratio in ratios if ratio > 0 and math.isfinite(ratio)]
    low = max(min([math.floor(value) for value in exponents], default=0), _DEEPEST)
    high = min(max([math.ceil(value) for value in exponents], default=0), _HIGHEST)
    low, high = min(low, _LOWEST_TOP), max(high, 1)
    bare = Axis(low, high, ())
    step = math.ceil((high - low) / _LABELS)
    decades = [value for value in range(low, high + 1) if value % step == 0]
    ticks = [Tick(bare.place(10.0**value), _label(value), value == 0) for value in decades]
    return Axis(low, high, (Tick(NONE_LANE, "0"), *ticks, Tick(BEYOND_LANE, "∞")))


def _label(exponent: int) -> str:
    short = 3
    if exponent == 0:
        return "limit"
    text = str(10 ** abs(exponent)) if abs(exponent) <= short else power(abs(exponent))
    return f"{text}×" if exponent > 0 else f"1/{text}"


@dataclass(frozen=True)
class Point:
    """One output of one sample, before it has a place."""

    ratio: float
    shape: Shape
    title: str
    noise: float | None = None
    """The model's own rounding error, as a share of the limit."""


@dataclass(frozen=True)
class Mark:
    """A point in its place."""

    x: float
    y: float
    shape: Shape
    title: str


@dataclass(frozen=True)
class Strip:
    """One row of a plot."""

    height: float
    limit: float
    marks: tuple[Mark, ...]
    noise: float | None
    title: str
    description: str


def strip(axis: Axis, points: Sequence[Point], title: str, description: str) -> Strip:
    """Return the row of some points; each gets its own height, so that none hides another."""
    height = min(TALLEST, ROW_HEIGHT + len(points) / 2)
    room = height - 2 * _MARGIN
    marks = tuple(
        Mark(
            axis.place(point.ratio),
            round(_MARGIN + room * (index + 0.5) / len(points), 2),
            point.shape,
            point.title,
        )
        for index, point in enumerate(points)
    )
    noises = [point.noise for point in points if point.noise]
    noise = axis.place(max(noises)) if noises else None
    return Strip(height, axis.limit, marks, noise, title, description)


def share_of_largest(values: Sequence[float]) -> list[float]:
    """Return the lengths of bars in percent; positive values stay visible."""
    largest = max(values, default=0.0)
    if largest <= 0:
        return [0.0 for _ in values]
    return [round(max(value / largest * 100, 0.5), 2) if value > 0 else 0.0 for value in values]
