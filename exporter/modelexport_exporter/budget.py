"""How much verifying may cost, and whether the next sample fits: pure, from what earlier ones took.

The rule. The smallest sample always runs. Any other runs if its estimate fits what is left of the
time (TIME_BUDGET_SECONDS in all) and of the memory (MEMORY_SHARE of what is free now). The estimate
is linear in the number of input elements, its slope the steepest that samples of a comparable
volume showed; attention, quadratic in one dim, is met because each dim runs alone at its maximum
before all do together. A sample that does not fit is made smaller in one dim, or left out; both
are told.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

TIME_BUDGET_SECONDS = 30.0
MEMORY_SHARE = 0.8
COMPARABLE = 8
"""Samples below 1/8 of the largest volume say more about start-up than about the slope."""


@dataclass(frozen=True)
class Cost:
    """What a sample took."""

    volume: int
    seconds: float
    peak_bytes: int
    """The process's peak of resident memory after it."""


@dataclass(frozen=True)
class Room:
    """What is left."""

    seconds: float
    free_bytes: int


@dataclass(frozen=True)
class Admission:
    """Whether a sample runs; `factor`: the part of its volume that would fit, if it does not."""

    fits: bool
    factor: float = 1.0
    why: str = ""


def admit(costs: Sequence[Cost], volume: int, room: Room) -> Admission:
    """Decide on a sample with this volume."""
    if not costs or volume <= min(cost.volume for cost in costs):
        return Admission(fits=True)
    seconds = estimate_seconds(costs, volume)
    needed = estimate_growth(costs, volume)
    allowed = room.free_bytes * MEMORY_SHARE
    if needed > allowed:
        why = f"would take about {needed / 1e9:.1f} GB of memory, {room.free_bytes / 1e9:.1f} free"
        return Admission(fits=False, factor=allowed / needed, why=why)
    if seconds > room.seconds:
        why = f"would take about {seconds:.0f} s of {TIME_BUDGET_SECONDS:.0f} s for all samples"
        return Admission(fits=False, factor=max(room.seconds, 0.0) / seconds, why=why)
    return Admission(fits=True)


def estimate_seconds(costs: Sequence[Cost], volume: int) -> float:
    """Return the seconds that a sample of this volume is expected to take."""
    fixed = min(cost.seconds for cost in costs)
    if len({cost.volume for cost in costs}) == 1:
        return fixed * volume / max(costs[0].volume, 1)
    slope = max((cost.seconds - fixed) / max(cost.volume, 1) for cost in _comparable(costs))
    return fixed + slope * volume


def estimate_growth(costs: Sequence[Cost], volume: int) -> float:
    """Return the bytes by which a sample of this volume is expected to raise memory."""
    before = min(cost.peak_bytes for cost in costs)
    return max((cost.peak_bytes - before) / max(cost.volume, 1) for cost in _comparable(costs)) * (
        volume
    )


def _comparable(costs: Sequence[Cost]) -> list[Cost]:
    largest = max(cost.volume for cost in costs)
    return [cost for cost in costs if cost.volume * COMPARABLE >= largest]
