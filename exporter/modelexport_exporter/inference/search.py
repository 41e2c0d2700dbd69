"""Finds inputs that forward accepts: the guess that got furthest is repaired next."""

from __future__ import annotations

import heapq
import time
from collections.abc import Callable
from dataclasses import dataclass
from itertools import count, islice

from modelexport_exporter.inference.guess import MOST_ELEMENTS, Guesses
from modelexport_exporter.inference.refusal import Refusal
from modelexport_exporter.inference.repairs import Known, repairs

MOST_RUNS = 600
_MOST_COST = 12.0
"""Repairs that leave forward where it was: each costs 1, and more the less likely it is."""
_LESS_LIKELY = 0.15
_EACH = 60
"""Repairs of one refusal that are tried."""


@dataclass(frozen=True)
class Found:
    """The end of a search."""

    guesses: Guesses
    """What is accepted, or what got furthest."""
    refusal: Refusal | None
    runs: int


def search(
    first: Guesses,
    refused: Callable[[Guesses], Refusal | None],
    known: Known,
    until: float,
) -> Found:
    """Return the guess that is accepted, or the one that got furthest.

    `until`: when to end, in `time.monotonic()` seconds.
    """
    order, seen = count(), set[str]()
    refusal = refused(first)
    best, runs = Found(first, refusal, 1), 1
    waiting: list[tuple[int, float, int, Guesses]] = []

    def expand(guesses: Guesses, found: Refusal, cost: float) -> None:
        for place, repaired in enumerate(islice(repairs(guesses, found, known), _EACH)):
            each = cost + 1 + place * _LESS_LIKELY
            heapq.heappush(waiting, (-found.ops, each, next(order), repaired))

    if refusal is not None:
        expand(first, refusal, 0.0)
    while waiting and runs < MOST_RUNS and time.monotonic() < until:
        ops, cost, _, guesses = heapq.heappop(waiting)
        key = _key(guesses)
        if key in seen or guesses.elements > MOST_ELEMENTS:
            continue
        seen.add(key)
        refusal = refused(guesses)
        runs += 1
        if refusal is None:
            return Found(guesses, None, runs)
        assert best.refusal is not None
        if refusal.ops > best.refusal.ops:
            best = Found(guesses, refusal, runs)
        if refusal.ops > -ops:
            expand(guesses, refusal, 0.0)
        elif refusal.ops == -ops and cost < _MOST_COST:
            expand(guesses, refusal, cost)
    return Found(best.guesses, best.refusal, runs)


def _key(guesses: Guesses) -> str:
    kinds = [(one.kind.value, one.axes) for one in guesses.inputs]
    return f"{guesses.described()} {kinds}"
