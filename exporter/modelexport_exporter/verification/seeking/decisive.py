"""Where a condition decides: where the other result would change all that is made of it.

`x <= 360` beside `y >= 1080` shows the error of `x < 360` only where y is at least 1080. This is
the criterion of modified condition/decision coverage (RTCA DO-178C, 6.4.4.2).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import torch

from modelexport_exporter.verification.seeking.recorded_conditions import (
    ALL_OF,
    ANY_OF,
    OVER,
    Combination,
    Condition,
)

Mask = torch.Tensor


def decisive(conditions: Sequence[Condition]) -> list[Mask]:
    """Return for each condition of a run where it decides: a boolean tensor of its shape."""
    used = {part for one in conditions if isinstance(one, Combination) for part in one.parts}
    masks = [
        torch.full(one.result.shape, place not in used) for place, one in enumerate(conditions)
    ]
    for place in range(len(conditions) - 1, -1, -1):
        condition = conditions[place]
        if isinstance(condition, Combination):
            for part, mask in _parts(conditions, condition, masks[place]):
                masks[part] |= mask
    return masks


def _parts(
    conditions: Sequence[Condition], whole: Combination, mask: Mask
) -> Iterator[tuple[int, Mask]]:
    """Yield where each part of a combination decides, given where the combination does."""
    results = [conditions[part].result for part in whole.parts]
    if whole.op in OVER and whole.origin is not None:
        yield whole.parts[0], _among(whole, results[0], mask)
    elif whole.origin is not None:
        own = torch.zeros(results[0].numel(), dtype=torch.bool)
        own[whole.origin.reshape(-1)[mask.reshape(-1)]] = True
        yield whole.parts[0], own.reshape(results[0].shape)
    else:
        for place, part in enumerate(whole.parts):
            own = mask
            for other in results[:place] + results[place + 1 :]:
                if whole.op in ALL_OF:
                    own = own & other
                if whole.op in ANY_OF:
                    own = own & ~other
            yield part, _summed_to(own, results[place].shape)


def _among(whole: Combination, source: Mask, mask: Mask) -> Mask:
    """Return where an element decides the all() or any() of its group."""
    if whole.origin is None:
        return torch.zeros_like(source)
    rows = source.reshape(-1)[whole.origin]
    against = ~rows if whole.op == "all" else rows
    alone = against.sum(1, keepdim=True) - against.to(torch.int64) == 0
    own = torch.zeros(source.numel(), dtype=torch.bool)
    own[whole.origin[alone & mask.reshape(-1, 1)]] = True
    return own.reshape(source.shape)


def _summed_to(mask: Mask, shape: torch.Size) -> Mask:
    """Return where an element that is broadcast to this mask decides anywhere."""
    return mask.to(torch.int64).sum_to_size(shape) > 0
