"""The largest integer that forward accepts, such as the last row of an embedding: pure."""

from __future__ import annotations

from collections.abc import Callable

LIMIT = 2**31 - 1
_BYTE = 255
UNLIMITED = 100
"""What is proposed where every integer is accepted."""


def accepted_range(takes: Callable[[int], bool], largest: int = LIMIT) -> tuple[int, int, str]:
    """Return the smallest and largest integer that is accepted, and how they were found.

    `takes`: whether forward accepts an input that holds this number only. `largest`: the largest
    number of the input's dtype; all of a byte are proposed where all are accepted.
    """
    limit = min(largest, LIMIT)
    low = 0 if takes(0) else 1
    if takes(limit):
        proposed = limit if limit <= _BYTE else UNLIMITED
        return low, proposed, "every integer was accepted"
    accepted, refused = low, limit
    probe = max(low * 2, 2)
    while probe < limit and takes(probe):
        accepted, probe = probe, probe * 2
    refused = min(probe, limit)
    while refused - accepted > 1:
        middle = (accepted + refused) // 2
        accepted, refused = (middle, refused) if takes(middle) else (accepted, middle)
    return low, accepted, f"{accepted} was accepted, {accepted + 1} was refused"
