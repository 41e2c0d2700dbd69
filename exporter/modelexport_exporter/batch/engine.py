"""The interface between a share's loop and the engine that exports one checkpoint.

The loop decides which checkpoint is next and what its result means for the batch; an engine
produces the result, and decides what one checkpoint's work can be reused for.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from modelexport_api.pod import PodResult
from modelexport_api.resource import ModelExport
from modelexport_exporter.core.log import Log


class Engine(Protocol):
    """Exports the checkpoints of a share, one after the other."""

    def export(self, item: ModelExport, following: Sequence[ModelExport], log: Log) -> PodResult:
        """Return the result of one checkpoint; never raise for what concerns only that one.

        `item` is an ordinary ModelExport: its source.uri is one literal checkpoint, its
        destination.uri has no placeholders; name, namespace and uid are the batch's. `following`
        are the next checkpoints, in order, so that they can be prepared ahead. Reason Interrupted
        means that a signal came.
        """

    def close(self) -> None:
        """Drop what was kept for the next checkpoint. Called once, also after a failure."""
