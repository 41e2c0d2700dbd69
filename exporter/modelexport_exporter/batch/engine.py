"""What a share's loop asks of whatever exports one checkpoint.

The loop knows which checkpoint is next and what its answer means for the batch; an engine knows how
an answer is come by, and what of one checkpoint's work can serve the next.
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
        """Return what became of one checkpoint; never raise for what concerns only that one.

        `item` is an ordinary ModelExport: its source.uri is one literal checkpoint, its
        destination.uri has no placeholders; name, namespace and uid are the batch's. `following`
        is what will be asked for next, in order, so that it can be made ready ahead. Reason
        Interrupted tells that a signal came.
        """

    def close(self) -> None:
        """Drop what was kept for the next checkpoint. Called once, whatever happened."""
