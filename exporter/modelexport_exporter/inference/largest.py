"""The largest integer that forward accepts, such as the last row of an embedding: pure."""

from __future__ import annotations

from collections.abc import Callable

LIMIT = 2**31 - 1
UNLIMITED = 100
"""What is proposed where every integer is accepted."""


def accepted_range(takes: Callable[[int], bool]) -> tuple[int, int, str]:
    """Return the smallest and largest integer that is accepted, and how they were found.

    `takes`: whether forward accepts an input that holds this number only.
    """
    low = 0 if takes(0) else 1
    if takes(LIMIT):
        return low, UNLIMITED, "every integer was accepted"
    accepted, refused = low, LIMIT
    probe = max(low * 2, 2)
    while probe < LIMIT and takes(probe):
        accepted, probe = probe, probe * 2
    refused = min(probe, LIMIT)
    while refused - accepted > 1:
        middle = (accepted + refused) // 2
        accepted, refused = (middle, refused) if takes(middle) else (accepted, middle)
    return low, accepted, f"{accepted} was accepted, {accepted + 1} was refused"
