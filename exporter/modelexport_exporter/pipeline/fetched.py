"""A checkpoint that is on this machine, and what lay at its destination before."""

from __future__ import annotations

from dataclasses import dataclass, replace

from modelexport_api.spec import Format
from modelexport_exporter.checkpoint.formats import detect
from modelexport_exporter.core.errors import ExportFailure
from modelexport_exporter.core.types import ExportTask
from modelexport_exporter.pipeline.fetch_stage import FetchStage
from modelexport_exporter.publish.manifest import Found
from modelexport_exporter.source import fetch as fetching


@dataclass(frozen=True)
class FetchedCheckpoint:
    """What an attempt begins with."""

    fetch_stage: FetchStage
    checkpoint: fetching.Fetched
    previous: Found | None

    @property
    def format(self) -> Format | None:
        """Return what the checkpoint is; None where loading it has to tell, or to complain."""
        try:
            return detect(self.checkpoint.checkpoint, self.fetch_stage.spec.source.format).format
        except ExportFailure:
            return None

    def task(self, name: str) -> ExportTask:
        """Return what a worker needs to know, with a new directory for its files."""
        output_dir = self.fetch_stage.directory / name
        output_dir.mkdir()
        return replace(self.fetch_stage.task(self.checkpoint), output_dir=output_dir)
