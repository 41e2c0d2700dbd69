"""A checkpoint that is on this machine, and what lay at its destination before."""

from __future__ import annotations

from dataclasses import dataclass, replace

from modelexport_api.spec import Format
from modelexport_exporter.checkpoint.formats import detect
from modelexport_exporter.core.errors import ExportFailure
from modelexport_exporter.core.types import ExportTask
from modelexport_exporter.pipeline.fetch_stage import Intake
from modelexport_exporter.publish.manifest import Found
from modelexport_exporter.source import fetch as fetching


@dataclass(frozen=True)
class Brought:
    """What an attempt begins with."""

    intake: Intake
    checkpoint: fetching.Fetched
    previous: Found | None

    @property
    def format(self) -> Format | None:
        """Return what the checkpoint is; None where loading it has to tell, or to complain."""
        try:
            return detect(self.checkpoint.checkpoint, self.intake.spec.source.format).format
        except ExportFailure:
            return None

    def task(self, name: str) -> ExportTask:
        """Return what a worker needs to know, with a new directory for its files."""
        output_dir = self.intake.directory / name
        output_dir.mkdir()
        return replace(self.intake.task(self.checkpoint), output_dir=output_dir)
