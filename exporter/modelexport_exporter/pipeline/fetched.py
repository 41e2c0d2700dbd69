"""A checkpoint on this machine, and what was published at its destination before."""

from __future__ import annotations

from dataclasses import dataclass, replace

from modelexport_api.spec import Format
from modelexport_exporter.checkpoint.formats import detect
from modelexport_exporter.core.errors import ExportFailure
from modelexport_exporter.core.types import ExportTask
from modelexport_exporter.isolation import worker
from modelexport_exporter.pipeline.fetch_stage import FetchStage
from modelexport_exporter.publish.manifest import Found
from modelexport_exporter.source import fetch as fetching


@dataclass(frozen=True)
class FetchedCheckpoint:
    """The input of an attempt."""

    fetch_stage: FetchStage
    checkpoint: fetching.Fetched
    previous: Found | None

    @property
    def format(self) -> Format | None:
        """Return the checkpoint's format; None if only loading it can detect the format or fail."""
        try:
            return detect(self.checkpoint.checkpoint, self.fetch_stage.spec.source.format).format
        except ExportFailure:
            return None

    def task(self, name: str) -> ExportTask:
        """Return the task for a worker, with a new directory for its files."""
        output_dir = worker.make_output(self.fetch_stage.directory, name)
        return replace(self.fetch_stage.task(self.checkpoint), output_dir=output_dir)
