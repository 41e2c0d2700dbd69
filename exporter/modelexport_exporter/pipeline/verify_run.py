"""The story of mode Verify: an artifact that exists, held against its checkpoint, here and now.

    identify -> fetch checkpoint and artifact -> read the artifact -> verify -> publish a report

For another onnxruntime, another GPU, another exporter's file, or doubt. Nothing is converted, and
nothing at the destination changes but `verifications/<name>-<digest>/`, where the report lies.
"""

from __future__ import annotations

from pathlib import Path

from modelexport_api.conditions import stages_of
from modelexport_api.pod import PodResult
from modelexport_api.resource import ModelExport
from modelexport_api.spec import Mode
from modelexport_api.status import Failure, Stage
from modelexport_exporter.core.digests import digest_of
from modelexport_exporter.core.log import Log
from modelexport_exporter.core.types import ConvertedModel, ExportTask
from modelexport_exporter.isolation import worker
from modelexport_exporter.pipeline.fetch_stage import FetchStage
from modelexport_exporter.pipeline.run_base import Settings, Story
from modelexport_exporter.publish.layout import REPORT_NAME
from modelexport_exporter.report.documents import both_reports, failed_documents
from modelexport_exporter.source.artifact_files import ExistingArtifact, bring, find_artifact
from modelexport_exporter.storage.locate import Stores
from modelexport_exporter.storage.workspace import workspace

VERIFICATIONS_NAME = "verifications"


class Reverification(Story):
    """One run of one resource that verifies."""

    def __init__(self, resource: ModelExport, settings: Settings, log: Log) -> None:
        super().__init__(resource, settings, log)
        self._destination = Stores(self._spec).destination(self._spec.destination.uri)
        self._artifact: ExistingArtifact | None = None

    def run(self) -> PodResult:
        """Return the result. Raises ExportFailure."""
        with workspace(self._settings.work_dir) as directory:
            self._artifact = artifact = find_artifact(self._spec)
            fetch_stage = FetchStage(self._spec, directory, self._record, self._report)
            fetch_stage.identify()
            worker.start_server(self._settings.preload)
            checkpoint = fetch_stage.fetch()
            task = fetch_stage.task(checkpoint)
            converted = self._read(task, artifact, directory / "artifact")
            self._record.source_files = checkpoint.digests()
            self._workers.verify(task, converted)
            fetch_stage.check_unchanged()
            report_uri = self._publish_report(None)
        return PodResult(
            outcome="Succeeded",
            artifact=self._record.artifact(artifact.directory),
            verification=self._record.verification,
            completed=list(stages_of(Mode.VERIFY)),
            report_uri=report_uri,
            peak_memory_bytes=self._record.peak_memory_bytes or None,
        )

    def _read(
        self, task: ExportTask, artifact: ExistingArtifact, directory: Path
    ) -> ConvertedModel:
        self._report(Stage.FETCH, 1.0, f"downloading {artifact.uri}")
        with self._record.time_stage(Stage.FETCH):
            files = bring(artifact, directory, self._report, self._workers.external_names)
        return self._workers.read(task, directory / artifact.name, files)

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
        """Return a name for the question: the same when a resource asks again."""
        metadata = self._record.resource.metadata
        identity, artifact = self._record.identity, self._artifact
        question = {
            "uid": metadata.uid,
            "spec": self._record.spec_sha256,
            "source": identity.fingerprint if identity else self._spec.source.one,
            "artifact": artifact.uri if artifact else None,
        }
        return f"{metadata.name}-{digest_of(question)[:12]}"

    def _tell_failure(self, failure: Failure) -> str:
        return self._publish_report(failure)
