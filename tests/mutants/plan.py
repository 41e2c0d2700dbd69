"""Which mutants a run tries: pure, the same for the same files."""

from __future__ import annotations

import zlib
from collections import Counter
from collections.abc import Mapping

from mutants.mutations import CONTROL, Mutant

EACH = 10
"""Mutants of a model that have to count."""
RESERVES = 90
"""Tried after those planned, where planned ones compute the same."""

Sites = Mapping[str, list[Mutant]]


def plan(surveys: Mapping[str, Sites]) -> dict[str, list[Mutant]]:
    """Return the queue of each subject: operators that were used least come first."""
    used: Counter[str] = Counter()
    available = Counter(name for sites in surveys.values() for name in sites)
    queues: dict[str, list[Mutant]] = {subject: [] for subject in surveys}
    for number in range(EACH + RESERVES):
        for subject, sites in surveys.items():
            queue = queues[subject]
            own = Counter(mutant.operator for mutant in queue)
            left = [name for name in sites if name != CONTROL and own[name] < len(sites[name])]
            if not left:
                continue
            chosen = min(
                left,
                key=lambda name: (own[name], used[name], available[name], _dice(subject, name)),
            )
            queue.append(_shuffled(subject, sites[chosen])[own[chosen]])
            used[chosen] += number < EACH
    return queues


def after_equivalent(mutant: Mutant, queue: list[Mutant]) -> list[Mutant]:
    """Return the rest of a queue after a mutant that computes the same: its operator comes next.

    An operator with one site that counts would otherwise never be judged.
    """
    replacement = next((other for other in queue if other.operator == mutant.operator), None)
    if replacement is None:
        return queue
    return [replacement, *(other for other in queue if other is not replacement)]


def _shuffled(subject: str, mutants: list[Mutant]) -> list[Mutant]:
    return sorted(mutants, key=lambda mutant: _dice(subject, mutant.name))


def _dice(*words: str) -> int:
    return zlib.crc32(" ".join(words).encode())
