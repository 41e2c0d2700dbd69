"""Which pod exports which checkpoint: pure and deterministic.

Largest first, each to the share with the least load so far, so that shares end at about the same
time. Each checkpoint has a fixed cost besides its size; without it, one large file would weigh as
much as a thousand small ones.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence

EACH_COSTS = 32 * 1024 * 1024
"""The fixed cost of a checkpoint, in bytes: capture, sessions, samples, requests."""


def share_out(sizes: Sequence[int], shares: int) -> list[int]:
    """Return the number of the share of each checkpoint."""
    loads = [(0, share) for share in range(shares)]
    chosen = [0] * len(sizes)
    for index in sorted(range(len(sizes)), key=lambda index: (-sizes[index], index)):
        load, share = loads[0]
        heapq.heapreplace(loads, (load + sizes[index] + EACH_COSTS, share))
        chosen[index] = share
    return chosen
