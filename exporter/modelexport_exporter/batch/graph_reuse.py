"""When a graph is used again, when it is replaced, and when reuse is given up: pure.

A graph that does not fit one checkpoint may fit the next, so one checkpoint of another model costs
one fresh export. Two in a row are another model, whose graph replaces the kept one. If several
graphs in a row fit no second checkpoint, the graph depends on the weights: each checkpoint then
gets a fresh export.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

ANOTHER_FAMILY = 2
"""Misses in a row after which the next fresh export's graph is kept instead."""
GIVE_UP = 3
"""Graphs that fitted no second checkpoint, after which reuse is given up."""


@dataclass(frozen=True)
class Reuse:
    """Hits and misses of the graphs so far."""

    has_graph: bool = False
    hits: int = 0
    """Checkpoints that the kept graph fitted."""
    misses: int = 0
    """Checkpoints in a row that it did not fit."""
    unused: int = 0
    """Graphs that were replaced without a single hit."""

    @property
    def should_rebind(self) -> bool:
        """Return whether the next checkpoint is tried with the kept graph."""
        return self.has_graph and self.unused < GIVE_UP

    @property
    def should_adopt(self) -> bool:
        """Return whether the graph of a fresh export that succeeds now is kept."""
        replaces = self.misses >= ANOTHER_FAMILY
        return self.unused < GIVE_UP and (not self.has_graph or replaces)

    def record_hit(self) -> Reuse:
        """Record that a checkpoint was verified with the graph."""
        return replace(self, hits=self.hits + 1, misses=0)

    def record_miss(self) -> Reuse:
        """Record that the graph did not fit, or its file was not verified."""
        return replace(self, misses=self.misses + 1)

    def record_loss(self) -> Reuse:
        """Record that the process with the graph ended."""
        return replace(self, has_graph=False, misses=0)

    def record_adoption(self) -> Reuse:
        """Record that a graph is kept: the first one, or another one."""
        unused = self.unused + (self.has_graph and self.hits == 0)
        return Reuse(has_graph=True, unused=unused)
