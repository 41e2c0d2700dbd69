"""How long the kinds of further samples may take, after the planned ones: pure.

All in seconds of `SampleScheduler.spent`, the time of all samples so far. A kind whose samples are
many and alike has a share of that time, so that a large model does not wait for it.
"""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median

MORE_WITHIN_SECONDS = 2.0
"""Further samples run while all samples together took less."""

FAST_SECONDS, FAST_SHARE = 0.05, 0.9
"""A model is fast if this share of its samples took less: a busy machine delays single ones."""
MEASURED_BELOW_SECONDS = 1.0
"""The model's noise is measured once, even if both agree, where no sample took longer."""
EACH_INTEGER_SECONDS = 0.25
"""Time for samples of all integers of a range, of fast models, as long as the others took."""
EACH_INTEGER_AT_MOST_SECONDS = 1.0
"""And what they may really take on a machine that does other work meanwhile."""

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


def is_fast(seconds: Sequence[float]) -> bool:
    """Return whether a model is fast whose samples took so long; it is before the first."""
    fast = sum(own < FAST_SECONDS for own in seconds)
    return fast >= FAST_SHARE * len(seconds)


def measures_noise(slowest: float) -> bool:
    """Return whether to measure the noise of a model whose slowest sample took so long."""
    return slowest < MEASURED_BELOW_SECONDS


def each_integer_samples(seconds: Sequence[float]) -> int:
    """Return how many samples of all integers run after samples that took so long."""
    return int(EACH_INTEGER_SECONDS / max(median(seconds), 1e-6)) if seconds else 0


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
