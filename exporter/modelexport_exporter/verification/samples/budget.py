"""The time and memory budget of verification, and whether the next sample fits: pure.

The smallest sample always runs. Any other runs if its estimate fits into the remaining time
(TIME_BUDGET_SECONDS in all; on a CPU, time of other processes does not count) and memory
(MEMORY_SHARE of the free memory). The estimate is linear in the number of input elements, with the
steepest slope among samples of comparable volume; attention, quadratic in one dim, is covered
because each dim runs alone at its maximum before all do together. The sample with all dims at their
maximum is shrunk in one dim if it does not fit; other samples are left out. The report lists
both.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

TIME_BUDGET_SECONDS = 30.0
MEMORY_SHARE = 0.8
HEADROOM = 0.9
"""A shrunk sample uses this part of what fits, because estimates are not exact."""
COMPARABLE = 2
"""Samples below half of the largest volume measure start-up rather than the slope."""
START_UP_SECONDS = 0.5
"""Assumed start-up time while all samples had the same volume."""


@dataclass(frozen=True)
class Cost:
    """The cost of one sample."""

    volume: int
    seconds: float
    peak_bytes: int
    """The process's peak resident memory after it."""


@dataclass(frozen=True)
class Room:
    """The remaining time and memory."""

    seconds: float
    free_bytes: int


@dataclass(frozen=True)
class Admission:
    """Whether a sample runs; `factor`: the part of its volume that would fit otherwise."""

    fits: bool
    factor: float = 1.0
    why: str = ""


def admit(costs: Sequence[Cost], volume: int, room: Room) -> Admission:
    """Decide on a sample with this volume."""
    if not costs or volume <= min(cost.volume for cost in costs):
        return Admission(fits=True)
    seconds = estimate_seconds(costs, volume)
    growth = estimate_growth(costs, volume)
    in_time = max(room.seconds, 0.0) / max(seconds, 1e-9)
    in_memory = room.free_bytes * MEMORY_SHARE / max(growth, 1.0)
    if min(in_time, in_memory) >= 1:
        return Admission(fits=True)
    if in_time < in_memory:
        left = f"{max(room.seconds, 0.0):.0f} s are left of {TIME_BUDGET_SECONDS:.0f} s"
        why = f"would take about {seconds:.0f} s, {left}"
    else:
        why = f"would take about {growth / 1e9:.1f} GB of memory, {room.free_bytes / 1e9:.1f} free"
    return Admission(fits=False, factor=min(in_time, in_memory), why=why)


def estimate_seconds(costs: Sequence[Cost], volume: int) -> float:
    """Return the seconds that a sample of this volume is expected to take."""
    fixed = min(cost.seconds for cost in costs)
    if len({cost.volume for cost in costs}) == 1:
        fixed = min(fixed, START_UP_SECONDS)
    slope = max((cost.seconds - fixed) / max(cost.volume, 1) for cost in _comparable(costs))
    return fixed + slope * volume


def estimate_growth(costs: Sequence[Cost], volume: int) -> float:
    """Return the bytes by which a sample of this volume is expected to raise memory."""
    before = min(cost.peak_bytes for cost in costs)
    slope = max((cost.peak_bytes - before) / max(cost.volume, 1) for cost in _comparable(costs))
    return slope * volume


def _comparable(costs: Sequence[Cost]) -> list[Cost]:
    """Return the costs of the largest volumes, each volume once, at its fastest.

    The fastest, because other processes slow single samples down.
    """
    largest = max(cost.volume for cost in costs)
    fastest: dict[int, Cost] = {}
    for cost in sorted(costs, key=lambda cost: cost.seconds, reverse=True):
        if cost.volume * COMPARABLE >= largest:
            fastest[cost.volume] = cost
    return list(fastest.values())
