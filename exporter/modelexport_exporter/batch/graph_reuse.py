"""When a graph is used again, when it is replaced, and when that is given up: pure.

A graph that does not fit one checkpoint may fit the next: one stranger in a family costs one fresh
export. Two in a row are another family, whose graph takes the place. Where graph after graph never
fits any other checkpoint, the weights decide what the graph is, and each is exported afresh.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

ANOTHER_FAMILY = 2
"""Misses in a row after which the next fresh export's graph is kept instead."""
GIVE_UP = 3
"""Graphs that never fitted another checkpoint, after which none is tried any more."""


@dataclass(frozen=True)
class Reuse:
    """What became of the graphs so far."""

    has_graph: bool = False
    hits: int = 0
    """Checkpoints that the graph at hand fitted."""
    misses: int = 0
    """Checkpoints in a row that it did not fit."""
    barren: int = 0
    """Graphs that were replaced without a single hit."""

    @property
    def rebinds(self) -> bool:
        """Tell whether the next checkpoint is tried with the graph at hand."""
        return self.has_graph and self.barren < GIVE_UP

    @property
    def adopts(self) -> bool:
        """Tell whether the graph of a fresh export that succeeded now is kept."""
        replaces = self.misses >= ANOTHER_FAMILY
        return self.barren < GIVE_UP and (not self.has_graph or replaces)

    def hit(self) -> Reuse:
        """Note that a checkpoint was verified with the graph."""
        return replace(self, hits=self.hits + 1, misses=0)

    def missed(self) -> Reuse:
        """Note that the graph did not fit, or did not verify."""
        return replace(self, misses=self.misses + 1)

    def lost(self) -> Reuse:
        """Note that the process that had the graph is gone."""
        return replace(self, has_graph=False, misses=0)

    def adopted(self) -> Reuse:
        """Note that another graph took the place, or the first one."""
        barren = self.barren + (self.has_graph and self.hits == 0)
        return Reuse(has_graph=True, barren=barren)
