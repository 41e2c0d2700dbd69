"""Loops whose number of steps is a size, as one step in the graph and a `Scan` around it."""

from __future__ import annotations

from modelexport_exporter.convert.size_loops.loop import NAMES
from modelexport_exporter.convert.size_loops.source import with_loops

__all__ = ["NAMES", "with_loops"]
