"""The run of mode Verify: verifies an existing artifact against its checkpoint.

    identify -> fetch checkpoint and artifact -> read the artifact -> verify -> publish a report

For another onnxruntime, another GPU, or another exporter's file. Nothing is converted, and nothing
at the destination changes but `verifications/<name>-<digest>/`, which holds the report.
"""

from __future__ import annotations

from pathlib import Path

from modelexport_api.conditions import stages_of
from modelexport_api.pod import PodResult
from modelexport_api.spec import Mode
from modelexport_api.status import Failure, Stage
from modelexport_exporter.core.digests import digest_of
from modelexport_exporter.core.types import WrittenFile
from modelexport_exporter.isolation import server
from modelexport_exporter.pipeline.context import RunContext
from modelexport_exporter.pipeline.fetch_stage import FetchStage
from modelexport_exporter.publish.layout import REPORT_NAME
from modelexport_exporter.report.documents import both_reports, failed_documents
from modelexport_exporter.source.artifact_files import (
    ExistingArtifact,
    fetch_artifact,
    find_artifact,
)
from modelexport_exporter.source.imported_libraries import libraries_of
from modelexport_exporter.storage.locate import Stores
from modelexport_exporter.storage.workspace import workspace

VERIFICATIONS_NAME = "verifications"


class VerifyRun:
    """One run of one resource that verifies."""

    def __init__(self, context: RunContext) -> None:
        self.context = context
        self._record = context.record
        self._destination = Stores(context.spec).destination(context.spec.destination.uri)
        self._artifact: ExistingArtifact | None = None

    def run(self) -> PodResult:
        """Return the result. Raises ExportFailure."""
        context, record = self.context, self._record
        with workspace(context.settings.work_dir) as directory, context.sandboxed(directory):
            self._artifact = artifact = find_artifact(context.spec)
            fetch_stage = FetchStage(context.spec, directory, record, context.report)
            fetch_stage.identify()
            libraries = libraries_of(context.spec, fetch_stage.code_dir)
            server.start_server(context.settings.preload, libraries)
            checkpoint = fetch_stage.fetch()
            task = fetch_stage.task(checkpoint)
            files = self._fetch(artifact, directory / "artifact")
            fetch_stage.report_result(checkpoint)
            converted = context.workers.read(task, directory / "artifact" / artifact.name, files)
            record.source_files = checkpoint.digests()
            context.workers.verify(task, converted)
            fetch_stage.check_unchanged()
            report_uri = self._publish_report(None)
        return PodResult(
            outcome="Succeeded",
            artifact=record.artifact(artifact.directory),
            verification=record.verification,
            completed=list(stages_of(Mode.VERIFY)),
            report_uri=report_uri,
            peak_memory_bytes=record.peak_memory_bytes or None,
        )

    def _fetch(self, artifact: ExistingArtifact, directory: Path) -> tuple[WrittenFile, ...]:
        report = self.context.report
        report(Stage.FETCH, 1.0, f"downloading {artifact.uri}")
        with self._record.time_stage(Stage.FETCH):
            names = self.context.workers.external_names
            return fetch_artifact(artifact, directory, report, names)

    def publish_failure(self, failure: Failure) -> str:
        """Publish the report of a failure; return its URI."""
        return self._publish_report(failure)

    def _publish_report(self, failure: Failure | None) -> str:
        directory = self._artifact.directory if self._artifact else self._destination
        below = self._destination.child(f"{VERIFICATIONS_NAME}/{self._name}").as_directory()
        made = failed_documents(self._record) if failure else {}
        made |= both_reports(self._record.report(directory, failure))
        for name, content in made.items():
            where = below.child(name)
            where.store.write(where.key, content)
        return below.child(REPORT_NAME).uri

    @property
    def _name(self) -> str:
        """Return the report's directory: the same when a resource is run again."""
        metadata = self.context.resource.metadata
        identity, artifact = self._record.identity, self._artifact
        question = {
            "uid": metadata.uid,
            "spec": self._record.spec_sha256,
            "source": identity.fingerprint if identity else self.context.spec.source.one,
            "artifact": artifact.uri if artifact else None,
        }
        return f"{metadata.name}-{digest_of(question)[:12]}"
