"""What is known about an export so far, and the documents that are made of it.

The pipeline writes down facts as they come; report, manifest and result are views of them, so a
failure at any stage is reported with everything that was found before it.
"""

from __future__ import annotations

import hashlib
import math
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime

from modelexport_api.pod import PodResult
from modelexport_api.resource import ModelExport
from modelexport_api.status import Artifact, ArtifactFile, Failure, Stage, VerificationResult
from modelexport_exporter import report as reports
from modelexport_exporter.identity import SourceIdentity, installed_versions, source_digest
from modelexport_exporter.ladder import Attempt
from modelexport_exporter.manifest import (
    MANIFEST_NAME,
    Manifest,
    ManifestResource,
    ManifestSource,
    Work,
)
from modelexport_exporter.publish import MODEL_NAME, REPORT_NAME
from modelexport_exporter.report import Report, ReportSource
from modelexport_exporter.storage.store import Location
from modelexport_exporter.values import ConvertedModel, SourceFile, VerificationOutcome, WrittenFile

_LARGEST = sys.float_info.max


@dataclass
class Record:
    """The facts of one export."""

    resource: ModelExport
    versions: dict[str, str] = field(default_factory=installed_versions)
    started: datetime = field(default_factory=lambda: datetime.now(UTC))
    seconds: dict[Stage, float] = field(default_factory=dict)
    spec_sha256: str | None = None
    identity: SourceIdentity | None = None
    source_files: tuple[SourceFile, ...] = ()
    converted: ConvertedModel | None = None
    outcome: VerificationOutcome | None = None
    attempts: list[Attempt] = field(default_factory=list)
    """The rungs of the ladder that were tried, in order."""
    peak_memory_bytes: int = 0

    @contextmanager
    def timed(self, stage: Stage) -> Iterator[None]:
        """Add the time of the body to a stage."""
        begin = time.monotonic()
        try:
            yield
        finally:
            self.seconds[stage] = self.seconds.get(stage, 0.0) + time.monotonic() - begin

    def exported(self, converted: ConvertedModel) -> None:
        """Take in what the export worker made."""
        self.converted = converted
        self.seconds |= {Stage(name): seconds for name, seconds in converted.seconds.items()}

    def verified(self, outcome: VerificationOutcome) -> None:
        """Take in what the verification worker found."""
        self.outcome = outcome
        self.seconds[Stage.VERIFY] = outcome.seconds

    @property
    def work(self) -> Work:
        """Return what identifies the work, as far as it is known."""
        assert self.identity is not None
        assert self.spec_sha256 is not None
        return Work(
            resource_uid=self.resource.metadata.uid,
            fingerprint=self.identity.fingerprint,
            spec_sha256=self.spec_sha256,
            source_sha256=source_digest(self.source_files) if self.source_files else None,
        )

    @property
    def verification(self) -> VerificationResult | None:
        """Return the verdict's summary; errors end at the largest float, as JSON's numbers do."""
        if self.outcome is None:
            return None
        summary = self.outcome.summary
        errors = {
            "max_abs_error": _finite(summary.max_abs_error),
            "max_rel_error": _finite(summary.max_rel_error),
        }
        return summary.model_copy(update=errors)

    def artifact(self, destination: Location, *others: WrittenFile) -> Artifact:
        """Return the artifact as it will lie at the destination."""
        assert self.converted is not None
        files = self.converted.files
        model = next(file for file in files if file.name == MODEL_NAME)
        return Artifact(
            uri=destination.child(MODEL_NAME).uri,
            sha256=model.sha256,
            size_bytes=sum(file.size_bytes for file in files),
            opset=self.converted.opset,
            ir_version=self.converted.ir_version,
            exporter=self.converted.exporter,
            inputs=list(self.converted.inputs),
            outputs=list(self.converted.outputs),
            files=[_listed(file) for file in (*files, *others)],
            manifest_uri=destination.child(MANIFEST_NAME).uri,
        )

    def manifest(self, destination: Location, report: bytes) -> Manifest:
        """Return the manifest of the artifact and its report."""
        assert self.identity is not None
        assert self.spec_sha256 is not None
        assert self.verification is not None
        digest = hashlib.sha256(report).hexdigest()
        metadata = self.resource.metadata
        return Manifest(
            created=datetime.now(UTC),
            resource=ManifestResource(
                name=metadata.name, namespace=metadata.namespace, uid=metadata.uid
            ),
            source=ManifestSource(
                uri=self.identity.uri,
                fingerprint=self.identity.fingerprint,
                sha256=source_digest(self.source_files),
                files=[_listed(file) for file in self.source_files],
            ),
            spec_sha256=self.spec_sha256,
            artifact=self.artifact(destination, WrittenFile(REPORT_NAME, len(report), digest)),
            verification=self.verification,
        )

    def report(self, destination: Location, failure: Failure | None = None) -> Report:
        """Return the report, of a success or of a failure."""
        metadata = self.resource.metadata
        converted, outcome = self.converted, self.outcome
        return Report(
            outcome="Failed" if failure else "Succeeded",
            name=metadata.name,
            namespace=metadata.namespace,
            uid=metadata.uid,
            spec=reports.public_spec(self.resource),
            spec_sha256=self.spec_sha256,
            source=self._source(),
            started=self.started,
            finished=datetime.now(UTC),
            stages=reports.stage_times(self.seconds),
            artifact=self.artifact(destination) if converted and not failure else None,
            operators=converted.op_counts if converted else {},
            modules=reports.modules(converted.modules) if converted else [],
            findings=reports.findings(converted.findings) if converted else [],
            attempts=reports.attempts(self.attempts),
            verification=self.verification,
            samples=reports.samples(outcome.samples) if outcome else [],
            left_out=list(outcome.left_out) if outcome else [],
            environment=reports.environment(self.versions),
            peak_memory_bytes=self.peak_memory_bytes,
            failure=failure,
        )

    def _source(self) -> ReportSource:
        identity, files = self.identity, self.source_files
        return ReportSource(
            uri=self.resource.spec.source.uri,
            fingerprint=identity.fingerprint if identity else None,
            sha256=source_digest(files) if files else None,
            files=[_listed(file) for file in files],
        )

    def succeeded(self, manifest: Manifest, report_uri: str, *, reused: bool) -> PodResult:
        """Return the result for the artifact that a manifest describes."""
        return PodResult(
            outcome="Succeeded",
            artifact=manifest.artifact,
            verification=manifest.verification,
            completed=list(Stage),
            report_uri=report_uri,
            reused=reused,
            peak_memory_bytes=self.peak_memory_bytes or None,
        )

    def failed(self, failure: Failure, report_uri: str | None) -> PodResult:
        """Return the result for a failure."""
        return PodResult(
            outcome="Failed",
            verification=self.verification,
            failure=failure,
            completed=completed_before(failure.stage),
            report_uri=report_uri,
            peak_memory_bytes=self.peak_memory_bytes or None,
        )


def completed_before(stage: Stage | None) -> list[Stage]:
    """Return the stages that were over when a stage failed."""
    order = list(Stage)
    return order[: order.index(stage)] if stage is not None else []


def _listed(file: WrittenFile | SourceFile) -> ArtifactFile:
    return ArtifactFile(name=file.name, sha256=file.sha256, size_bytes=file.size_bytes)


def _finite(value: float) -> float:
    return value if math.isfinite(value) else _LARGEST
