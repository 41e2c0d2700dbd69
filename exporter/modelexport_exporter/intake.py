"""What every run begins with: the code, the checkpoint and recorded inputs, by digest and on disk.

Nothing is loaded here. What is small (code, recorded inputs) is fetched at once, because its digest
says whether the work was done already; the checkpoint only when it was not.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from modelexport_api.spec import ModelExportSpec
from modelexport_api.status import Stage
from modelexport_exporter import fetch as fetching
from modelexport_exporter import identity
from modelexport_exporter.fetch_inputs import CALIBRATION, GOLDEN, RecordedInputs, fetch_inputs
from modelexport_exporter.progress import ProgressReporter
from modelexport_exporter.record import Dependency, Record
from modelexport_exporter.storage.store import Location, Role, locate
from modelexport_exporter.user_code.fetch_code import fetch_code
from modelexport_exporter.user_code.fetch_libraries import fetch_libraries
from modelexport_exporter.values import ExportTask


@dataclass
class Intake:
    """Brings what a run needs into its directory, and writes down what it is."""

    spec: ModelExportSpec
    directory: Path
    record: Record
    report: ProgressReporter
    _code_dir: Path | None = None
    _inputs: Mapping[str, RecordedInputs] = field(default_factory=dict)

    @property
    def source(self) -> Location:
        """Return where the checkpoint is."""
        return locate(self.spec.source.uri, self.spec.storage, Role.SOURCE)

    def identify(self) -> None:
        """Find out what is asked for, by digests."""
        self.report(Stage.FETCH, 0.0, f"looking at {self.spec.source.uri}")
        record = self.record
        with record.timed(Stage.FETCH):
            self._fetch_code()
            self._inputs = fetch_inputs(self.spec, self.directory)
            inputs = {name: entry.sha256 for name, entry in self._inputs.items()}
            record.spec_sha256 = identity.spec_digest(
                self.spec, record.code_sha256, record.versions, inputs
            )
            record.dependencies += [
                Dependency(entry.uri, {"sha256": entry.sha256}) for entry in self._inputs.values()
            ]
            record.identity = fetching.identify(self.source, self.spec.source)

    def _fetch_code(self) -> None:
        model = self.spec.model
        if model is None or model.code is None:
            return
        code = locate(model.code.uri, self.spec.storage, Role.CODE)
        self._code_dir = fetch_code(code, self.directory)
        digest = identity.directory_digest(self._code_dir)
        self.record.code_sha256 = digest
        self.record.dependencies.append(Dependency(code.uri, {identity.DIRECTORY_DIGEST: digest}))

    def fetch(self) -> fetching.Fetched:
        """Bring the checkpoint to this machine."""
        assert self.record.identity is not None
        with self.record.timed(Stage.FETCH):
            return fetching.fetch(
                self.source,
                self.record.identity,
                self.spec.source,
                self.directory / "checkpoint",
                self.report,
            )

    def check_unchanged(self) -> None:
        """Fail if a checkpoint that is used in place was written to since."""
        assert self.record.identity is not None
        fetching.check_unchanged(self.source, self.record.identity)

    def task(self, checkpoint: fetching.Fetched) -> ExportTask:
        """Return what a worker needs to know; its output directory is the run's own."""
        storage = self.spec.storage
        libraries = [locate(uri, storage, Role.CODE) for uri in self.spec.export.runtime_libraries]
        with self.record.timed(Stage.FETCH):
            paths = fetch_libraries(libraries, self.directory)
        self.record.dependencies += [
            Dependency(where.uri, {"sha256": identity.sha256_file(path)})
            for where, path in zip(libraries, paths, strict=True)
        ]
        return ExportTask(
            self.spec,
            checkpoint.checkpoint,
            self._code_dir,
            self.directory,
            runtime_libraries=paths,
            golden_inputs=self._path(GOLDEN),
            calibration_inputs=self._path(CALIBRATION),
        )

    def _path(self, name: str) -> Path | None:
        entry = self._inputs.get(name)
        return entry.path if entry else None
