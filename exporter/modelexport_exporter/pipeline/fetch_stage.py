"""The first stage of every run: the checkpoint and its dependencies, by digest and on disk.

Nothing is loaded here. Small files (code, recorded inputs) are fetched at once, because their
digests decide whether the work was done already; the checkpoint is fetched only if it was not.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from modelexport_api.spec import ModelExportSpec
from modelexport_api.status import Stage
from modelexport_exporter.core import digests as identity
from modelexport_exporter.core.digests import source_digest
from modelexport_exporter.core.progress import ProgressReporter
from modelexport_exporter.core.types import ExportTask
from modelexport_exporter.report import text
from modelexport_exporter.report.record import Record
from modelexport_exporter.source import fetch as fetching
from modelexport_exporter.source.dependencies import Dependencies, gather
from modelexport_exporter.storage.locate import Stores
from modelexport_exporter.storage.store import Location

_DIGEST_SECONDS = 0.2
"""A run does not wait longer for the digest of a checkpoint only to show it."""
_DIGEST_SHOWN = 12


@dataclass
class FetchStage:
    """Fetches what a run needs into its directory, and records its digests."""

    spec: ModelExportSpec
    directory: Path
    record: Record
    report: ProgressReporter
    dependencies: Dependencies | None = None
    """What was fetched before, for another checkpoint of the same batch."""
    kept: fetching.Kept | None = None
    """The checkpoint, if this process has fetched it already."""

    @property
    def source(self) -> Location:
        """Return where the checkpoint is."""
        return Stores(self.spec).source(self.spec.source.one)

    @property
    def code_dir(self) -> Path | None:
        """Return the folder of the user's code, once the dependencies are fetched."""
        return self.dependencies.code_dir if self.dependencies else None

    def identify(self) -> None:
        """Fetch the dependencies and record the digests of the request."""
        self.report(Stage.FETCH, 0.0, f"checking {self.spec.source.one}")
        record = self.record
        with record.time_stage(Stage.FETCH):
            self.dependencies = owned = self.dependencies or gather(self.spec, self.directory)
            record.code_sha256 = owned.code_sha256
            record.spec_sha256 = identity.spec_digest(
                self.spec, owned.content_digests, record.versions
            )
            record.dependencies += owned.dependencies
            record.identity = fetching.identify(self.source, self.spec.source)

    def fetch(self) -> fetching.Fetched:
        """Fetch the checkpoint to this machine, unless the same version of it is here."""
        assert self.record.identity is not None
        if self.kept is not None and self.kept.identity == self.record.identity:
            return self.kept.fetched
        with self.record.time_stage(Stage.FETCH):
            return fetching.fetch(
                self.source,
                self.record.identity,
                self.spec.source,
                self.directory / "checkpoint",
                self.report,
            )

    def report_result(self, checkpoint: fetching.Fetched) -> None:
        """Log what was fetched; its digest only if that is known by now."""
        identity = self.record.identity
        assert identity is not None
        files = checkpoint.digests_within(_DIGEST_SECONDS)
        parts = [text.size(identity.size_bytes).replace("\N{NO-BREAK SPACE}", " ")]
        if len(identity.files) > 1:
            parts.append(f"{len(identity.files)} files")
        if files:
            parts.append(f"sha256 {source_digest(files)[:_DIGEST_SHOWN]}…")
        self.report.finish(Stage.FETCH, ", ".join(parts), self.record.seconds[Stage.FETCH])

    def check_unchanged(self) -> None:
        """Raise ExportFailure if a checkpoint that is used in place has changed."""
        assert self.record.identity is not None
        fetching.check_unchanged(self.source, self.record.identity)

    def task(self, checkpoint: fetching.Fetched) -> ExportTask:
        """Return the task for a worker; its output directory is the run's own."""
        assert self.dependencies is not None
        return ExportTask(
            self.spec,
            checkpoint.checkpoint,
            self.dependencies.code_dir,
            self.directory,
            runtime_libraries=self.dependencies.libraries,
            golden_inputs=self.dependencies.golden_inputs,
            calibration_inputs=self.dependencies.calibration_inputs,
        )
