"""How long the kinds of further samples may take, after the planned ones: pure.

All in seconds of `SampleScheduler.spent`, the time of all samples so far. A kind whose samples are
many and alike has a share of that time, so that a large model does not wait for it.
"""

from __future__ import annotations

MORE_WITHIN_SECONDS = 2.0
"""Further samples run while all samples together took less."""

FAST_SECONDS = 0.05
"""A model is fast if no sample took longer."""
EACH_INTEGER_SECONDS = 0.25
"""Time for samples of all integers of a range, of fast models."""

NAMED_SECONDS = 0.25
NAMED_SHARE = 0.1
"""Time for further samples of numbers that the model names, where there are any: so much, or this
part of the time that the others took."""

LOOKUP_SECONDS = 2.0
LOOKUP_SHARE = 0.1
"""Time to look up rows of tables that are not the model's: so much, or this part of the time that
the others took."""

LIKELY_SIZES_SECONDS = 1.0
LIKELY_SIZES_SHARE = 0.15
LEAST_LIKELY_SIZES_SECONDS = 0.25
"""Time for sizes next to the middle, powers of two and numbers of the model, those that fit: this
part of the time that the others took, but at most and at least so much."""

EVERY_SIZE_SECONDS = 0.5
EVERY_SIZE_SHARE = 0.1
"""Time for samples of all sizes of all dims, after the others; of models that are not fast, this
part of the time that the others took, and only for sizes that did not run."""


def named(spent: float) -> float:
    """Return when samples of named numbers end."""
    return spent + max(NAMED_SECONDS, spent * NAMED_SHARE)


def lookups(spent: float) -> float:
    """Return when rows of tables are no longer looked up."""
    return spent + max(LOOKUP_SECONDS, spent * LOOKUP_SHARE)


def likely_sizes(spent: float) -> float:
    """Return when samples of likely sizes end."""
    share = max(spent * LIKELY_SIZES_SHARE, LEAST_LIKELY_SIZES_SECONDS)
    return spent + min(share, LIKELY_SIZES_SECONDS)


def every_size(spent: float, *, fast: bool) -> float:
    """Return when samples of all sizes end."""
    return spent + (
        EVERY_SIZE_SECONDS if fast else min(EVERY_SIZE_SECONDS, spent * EVERY_SIZE_SHARE)
    )
