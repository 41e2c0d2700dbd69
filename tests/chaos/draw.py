"""A part of all cases, drawn by a seed."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import TypeVar

T = TypeVar("T")


def drawn(cases: Sequence[T], count: int | None, seed: int) -> Sequence[T]:
    """Return so many of the cases, in their order; None: all."""
    if count is None or count >= len(cases):
        return cases
    indexes = sorted(random.Random(seed).sample(range(len(cases)), count))
    return [cases[index] for index in indexes]
