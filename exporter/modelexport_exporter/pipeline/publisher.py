"""The destination of an export run: what was published before, and what this run publishes.

Nothing appears under its final name unless it was verified.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import AbstractContextManager
from functools import partial
from pathlib import Path

from modelexport_api.pod import PodResult
from modelexport_api.spec import Overwrite
from modelexport_api.status import Failure, Stage
from modelexport_exporter.core.blame import REPRO_FILES
from modelexport_exporter.core.errors import ExportFailure
from modelexport_exporter.core.types import ConvertedModel, WrittenFile
from modelexport_exporter.isolation import server
from modelexport_exporter.onnx_file.metadata import append_metadata, check_states_nothing
from modelexport_exporter.pipeline.context import RunContext
from modelexport_exporter.publish.early_upload import EarlyUpload
from modelexport_exporter.publish.layout import MODEL_NAME, PAGE_NAME, REPORT_NAME
from modelexport_exporter.publish.manifest import Decision, Found, decide
from modelexport_exporter.publish.publish import (
    Claim,
    Publication,
    destination_taken,
    failed_directory,
    open_publication,
    resource_key,
)
from modelexport_exporter.publish.written_files import take
from modelexport_exporter.report import text
from modelexport_exporter.report.documents import (
    both_reports,
    describe_files,
    documents,
    failed_documents,
)
from modelexport_exporter.report.signing import Signer, take_signer
from modelexport_exporter.storage.locate import Stores
from modelexport_exporter.storage.store import Origin
from modelexport_exporter.storage.workspace import workspace

_UNKNOWN = "unknown"
"""In place of the digest of a spec that is not known yet."""


class Publisher:
    """Reads and writes one run's destination."""

    def __init__(self, context: RunContext) -> None:
        self._context = context
        self._record = context.record
        metadata, destination = context.resource.metadata, context.spec.destination
        self._publication = Publication(
            Stores(context.spec).destination(destination.uri),
            resource_key(metadata.name, metadata.namespace, metadata.uid),
            destination.layout,
        )
        self._signer: Signer | None = None

    def load_signer(self) -> None:
        """Take the key that signs the provenance. Raises ExportFailure if it is required."""
        required = self._context.spec.destination.signing_secret_name is not None
        self._signer = self._context.settings.signer or take_signer(os.environ, required=required)
        self._record.signed_by = self._signer.key_id if self._signer else None

    def find(self) -> Found | None:
        """Return what was published before."""
        return self._publication.find()

    def decide(self, previous: Found | None) -> Decision:
        """Return what to do about it. Raises ExportFailure if it may not be replaced."""
        overwrite = self._context.spec.destination.overwrite
        if previous is None and overwrite is Overwrite.NEVER:
            self._publication.check_unclaimed()
        decision = decide(overwrite, previous, self._record.work)
        if decision is Decision.REFUSE:
            raise destination_taken(self._publication.destination.uri)
        return decision

    def reuse(self, found: Found) -> PodResult:
        """Return what an earlier run published as this run's result."""
        assert found.manifest is not None
        message = "up to date: the artifact of this source and spec exists"
        spent = self._record.seconds.get(Stage.FETCH, 0.0)
        self._context.report.finish(Stage.FETCH, "not changed since it was exported", spent)
        self._context.report(Stage.PUBLISH, 1.0, "looking at what was published")
        self._context.report.finish(Stage.PUBLISH, message, 0.0)
        self._publication.repair(found.manifest)
        self._clean_up()
        return self._record.success(found.manifest, self._report_uri, reused=True)

    def open(self) -> AbstractContextManager[Publication]:
        """Check that the destination can be written; nothing stays staged after the block."""
        return open_publication(self._publication)

    def begin_upload(
        self, converted: ConvertedModel, origins: Mapping[str, Origin] | None = None
    ) -> EarlyUpload:
        """Upload external data in the background, invisible to readers.

        `origins`: objects that some of it is, which the store may copy itself.
        """
        return EarlyUpload(
            self._publication,
            converted,
            self._report_upload,
            alone=lambda: not server.has_workers(),
            origins=origins,
            warn=partial(self._context.log.log, "warning"),
        )

    def _report_upload(self, stage: Stage, fraction: float, message: str) -> None:
        """Report an upload only while nothing else is running."""
        if self._context.stage is stage:
            self._context.report(stage, fraction * 0.9, message)

    def drop_staged(self) -> None:
        """Drop what was uploaded and is not to be published."""
        self._publication.drop_staged()

    def publish(
        self, converted: ConvertedModel, upload: EarlyUpload, previous: Found | None
    ) -> PodResult:
        """Publish a verified file with its documents. Raises ExportFailure."""
        record, destination = self._record, self._publication.destination
        self._context.report(Stage.PUBLISH, 0.0, f"uploading to {destination.uri}")
        # Processes of the model's code may still run, so what is published is this one's alone.
        with (
            record.time_stage(Stage.PUBLISH),
            workspace(self._context.settings.work_dir) as own,
        ):
            upload.wait()
            path = own / MODEL_NAME
            alone = not server.has_workers()
            take(converted.model_path.parent, self._model_file, path, alone=alone)
            check_states_nothing(path)
            model = append_metadata(path, record.metadata)
            record.replace_model_file(model)
            self._stage_file(path, model)
            made = documents(record, destination, self._signer)
            for file in describe_files(made):
                path = own / file.name
                path.write_bytes(made[file.name])
                self._stage_file(path, file)
            replaced = (previous.manifest or previous.broken) if previous else None
            manifest = record.manifest(destination, describe_files(made), replaced)
            in_force = self._publication.commit(Claim(manifest, record.work, previous))
        self._clean_up()
        files = in_force.artifact.files
        size = text.size(sum(file.size_bytes for file in files)).replace("\N{NO-BREAK SPACE}", " ")
        result = f"{len(files)} files, {size}"
        self._context.report.finish(Stage.PUBLISH, result, record.seconds[Stage.PUBLISH])
        return record.success(
            in_force, self._report_uri, reused=in_force.created != manifest.created
        )

    @property
    def _model_file(self) -> WrittenFile:
        """Return the model's file as its worker stated it; the others are checked on their way."""
        assert self._record.converted is not None
        return next(file for file in self._record.converted.files if file.name == MODEL_NAME)

    def publish_failure(self, failure: Failure) -> str:
        """Publish the reports of a failure; return the URI of report.json."""
        report = self._record.report(self._publication.destination, failure)
        uris = {
            name: self._publication.publish_failure(self._failed_directory + name, content)
            for name, content in (failed_documents(self._record) | both_reports(report)).items()
        }
        return uris[REPORT_NAME]

    def _stage_file(self, path: Path, file: WrittenFile) -> None:
        self._publication.stage(path, file, lambda _moved: None, alone=True)

    @property
    def _report_uri(self) -> str:
        return self._publication.destination.child(REPORT_NAME).uri

    @property
    def _failed_directory(self) -> str:
        name = self._context.resource.metadata.name
        return failed_directory(name, self._record.spec_sha256 or _UNKNOWN)

    def _clean_up(self) -> None:
        """Remove what earlier artifacts, killed runs and failures of the same work left."""
        try:
            self._publication.tidy()
            names = (PAGE_NAME, REPORT_NAME, *REPRO_FILES)
            self._publication.forget_failure(self._failed_directory, names)
            # Of a run that ended before it knew its spec's digest.
            early = failed_directory(self._context.resource.metadata.name, _UNKNOWN)
            self._publication.forget_failure(early, names)
        except ExportFailure as failure:
            self._context.log.log("warning", f"cleanup incomplete: {failure.message}")
