"""The busy seconds that another process claims, as far as they can be true. Pure.

Budgets of a verification count them. A process that claims more than has passed would leave out
samples; one whose clock begins at 10^18 would stop it, since no float of that size moves.
"""

from __future__ import annotations


class ClaimedTime:
    """Adds up what a process claims, from its first claim on."""

    def __init__(self, now: float) -> None:
        """`now`: of a clock that stands still for nobody, in seconds."""
        self.seconds = 0.0
        """Since its first claim."""
        self._claimed: float | None = None
        self._counted_from = now
        """All that was granted lies behind this time."""

    def note(self, claimed: float, now: float) -> None:
        """Grant what it claims to have been busy, in total, as far as so much time has passed."""
        before = claimed if self._claimed is None else self._claimed
        self._claimed = max(before, claimed)
        granted = min(self._claimed - before, now - self._counted_from)
        self.seconds += granted
        self._counted_from += granted
