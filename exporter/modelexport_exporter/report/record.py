"""What is known about an export so far, and the documents that are made from it.

The run records facts as they come; report, manifest and result are views of them, so a failure at
any stage is reported with everything that was found before it.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

from modelexport_api.conditions import stages_of
from modelexport_api.isolation import IsolationInForce
from modelexport_api.pod import PodResult
from modelexport_api.resource import ModelExport
from modelexport_api.spec import Layout, Mode
from modelexport_api.status import Artifact, ArtifactFile, Failure, Stage, VerificationResult
from modelexport_exporter.core.attempt import Attempt, most_informative
from modelexport_exporter.core.benchmark_plan import Benchmark
from modelexport_exporter.core.blame import Blame
from modelexport_exporter.core.dependency import Dependency
from modelexport_exporter.core.digests import SourceIdentity, installed_versions, source_digest
from modelexport_exporter.core.inferred import Inferred
from modelexport_exporter.core.outcome import VerificationOutcome
from modelexport_exporter.core.types import ConvertedModel, SourceFile, WrittenFile
from modelexport_exporter.publish.layout import published_name
from modelexport_exporter.publish.manifest import (
    MANIFEST_NAME,
    Manifest,
    ManifestResource,
    ManifestSource,
    Work,
    superseded,
)
from modelexport_exporter.report import as_reported
from modelexport_exporter.report.report import Report, ReportSource, public_spec
from modelexport_exporter.report.report_measured import measured, tried_inputs
from modelexport_exporter.report.summary import summary_of
from modelexport_exporter.report.unpublished import unpublished
from modelexport_exporter.storage.store import Location

_AROUND = frozenset({Stage.FETCH, Stage.PUBLISH})
"""Stages of the run, not of an attempt."""


@dataclass(frozen=True)
class _Evidence:
    """The file of an attempt, and its comparison with eager PyTorch."""

    converted: ConvertedModel | None
    outcome: VerificationOutcome | None


@dataclass
class Record:
    """The facts of one export."""

    resource: ModelExport
    inferred: tuple[Inferred, ...] = ()
    versions: dict[str, str] = field(default_factory=installed_versions)
    started: datetime = field(default_factory=lambda: datetime.now(UTC))
    seconds: dict[Stage, float] = field(default_factory=dict)
    spec_sha256: str | None = None
    code_sha256: str | None = None
    signed_by: str | None = None
    """The id of the key that signs the provenance."""
    dependencies: list[Dependency] = field(default_factory=list)
    """Code, recorded inputs and runtime libraries."""
    identity: SourceIdentity | None = None
    source_files: tuple[SourceFile, ...] = ()
    converted: ConvertedModel | None = None
    outcome: VerificationOutcome | None = None
    attempts: list[Attempt] = field(default_factory=list)
    """The rungs of the ladder that were tried, in order."""
    _evidence: list[_Evidence] = field(default_factory=list)
    """What each attempt made, in the order of attempts."""
    peak_memory_bytes: int = 0
    benchmark: Benchmark | None = None
    isolation: IsolationInForce | None = None
    """Of the processes that ran the model's code."""

    @contextmanager
    def time_stage(self, stage: Stage) -> Iterator[None]:
        """Add the time of the body to a stage."""
        begin = time.monotonic()
        try:
            yield
        finally:
            self.seconds[stage] = self.seconds.get(stage, 0.0) + time.monotonic() - begin

    def begin_attempt(self) -> None:
        """Forget the file and the stages of the attempt before: they say nothing of the next."""
        self.converted, self.outcome = None, None
        self.seconds = {stage: self.seconds[stage] for stage in self.seconds if stage in _AROUND}

    def add_export(self, converted: ConvertedModel) -> None:
        """Record what the export worker made."""
        self.converted = converted
        self.seconds |= {Stage(name): seconds for name, seconds in converted.seconds.items()}

    def add_verification(self, outcome: VerificationOutcome) -> None:
        """Record what the verification worker found."""
        self.outcome = outcome
        self.converted = outcome.converted or self.converted
        self.seconds[Stage.VERIFY] = outcome.seconds

    def end_attempt(self, attempt: Attempt) -> None:
        """Record how an attempt ended, with what it made."""
        self.attempts.append(attempt)
        self._evidence.append(_Evidence(self.converted, self.outcome))

    def _evidence_of(self, failure: Failure | None) -> _Evidence:
        """Return the file and the comparison that the report is about.

        After a failure, those of the attempt that the failure is of: another one's file is not
        what the message describes.
        """
        failed = any(attempt.failure and not attempt.deferred for attempt in self.attempts)
        if failure is None or not failed:
            return _Evidence(self.converted, self.outcome)
        reported = most_informative(self.resource.spec, self.attempts)
        return next(
            evidence
            for attempt, evidence in zip(self.attempts, self._evidence, strict=True)
            if attempt is reported
        )

    def replace_model_file(self, model: WrittenFile) -> None:
        """Record the model's file after metadata was appended to it."""
        assert self.converted is not None
        files = [model if file.name == model.name else file for file in self.converted.files]
        self.converted = replace(self.converted, files=tuple(files))

    @property
    def metadata(self) -> dict[str, str]:
        """Return the metadata for the ONNX file: the same for the same work and verdict."""
        assert self.converted is not None
        assert self.outcome is not None
        facts = {
            "source.sha256": source_digest(self.source_files),
            "spec.sha256": self.spec_sha256,
            "code.sha256": self.code_sha256,
            "exporter": self.converted.exporter,
            "opset": str(self.converted.opset),
            "verdict": self.outcome.summary.verdict.value,
            **{f"version.{name}": version for name, version in self.versions.items()},
        }
        return {key: value for key, value in facts.items() if value is not None}

    @property
    def layout(self) -> Layout:
        """Return the layout of the artifact; Plain for one that exists and is only verified."""
        spec = self.resource.spec
        return spec.destination.layout if spec.mode is Mode.EXPORT else Layout.PLAIN

    @property
    def blame(self) -> Blame | None:
        """Return the node to blame for the reported failure: the rung's, or that of mode Verify."""
        spec = self.resource.spec
        if any(attempt.failure and not attempt.deferred for attempt in self.attempts):
            return most_informative(spec, self.attempts).blame
        return self.outcome.blame if self.outcome and not self.attempts else None

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
            layout=self.layout,
            signed_by=self.signed_by,
        )

    @property
    def verification(self) -> VerificationResult | None:
        """Return the verdict's summary; errors end at the largest float, as JSON's numbers do."""
        return summary_of(self.outcome, self.benchmark, self.isolation)

    def model_files(self) -> list[ArtifactFile]:
        """Return the files of the model itself, under the names that they are published by."""
        assert self.converted is not None
        return [
            as_artifact_file(replace(file, name=published_name(self.layout, file.name)))
            for file in self.converted.files
        ]

    def artifact(self, directory: Location, others: Iterable[WrittenFile] = ()) -> Artifact:
        """Return the artifact as it is, or will be, in a directory."""
        assert self.converted is not None
        files = self.model_files()
        name = published_name(self.layout, self.converted.model_path.name)
        model = next(file for file in files if file.name == name)
        return Artifact(
            uri=directory.child(name).uri,
            sha256=model.sha256,
            size_bytes=sum(file.size_bytes for file in files),
            opset=self.converted.opset,
            ir_version=self.converted.ir_version,
            exporter=self.converted.exporter,
            inputs=list(self.converted.inputs),
            outputs=list(self.converted.outputs),
            files=[*files, *map(as_artifact_file, others)],
            manifest_uri=directory.child(MANIFEST_NAME).uri if self._publishes else None,
        )

    @property
    def _publishes(self) -> bool:
        return self.resource.spec.mode is Mode.EXPORT

    def manifest(
        self, destination: Location, documents: Iterable[WrittenFile], previous: Manifest | None
    ) -> Manifest:
        """Return the manifest of the artifact and its documents."""
        assert self.identity is not None
        assert self.spec_sha256 is not None
        assert self.verification is not None
        metadata = self.resource.metadata
        artifact, now = self.artifact(destination, documents), datetime.now(UTC)
        return Manifest(
            created=now,
            resource=ManifestResource(
                name=metadata.name, namespace=metadata.namespace, uid=metadata.uid
            ),
            source=ManifestSource(
                uri=self.identity.uri,
                fingerprint=self.identity.fingerprint,
                sha256=source_digest(self.source_files),
                files=[as_artifact_file(file) for file in self.source_files],
            ),
            spec_sha256=self.spec_sha256,
            layout=self.layout,
            signed_by=self.signed_by,
            artifact=artifact,
            verification=self.verification,
            superseded=superseded(previous, artifact.files, now),
        )

    def report(self, destination: Location, failure: Failure | None = None) -> Report:
        """Return the report, of a success or of a failure."""
        metadata = self.resource.metadata
        evidence = self._evidence_of(failure)
        converted, outcome = evidence.converted, evidence.outcome
        has_artifact = self._has_artifact(failure)
        return Report(
            outcome="Failed" if failure else "Succeeded",
            name=metadata.name,
            namespace=metadata.namespace,
            uid=metadata.uid,
            spec=public_spec(self.resource),
            inferred=list(self.inferred),
            spec_sha256=self.spec_sha256,
            code_sha256=self.code_sha256,
            source=self._source(),
            started=self.started,
            finished=datetime.now(UTC),
            stages=as_reported.stage_times(self.seconds),
            artifact=self.artifact(destination) if has_artifact else None,
            unpublished=unpublished(converted) if converted and not has_artifact else None,
            operators=converted.op_counts if converted else {},
            modules=as_reported.modules(converted.modules) if converted else [],
            findings=as_reported.findings(converted.findings) if converted else [],
            in_checkpoint=as_reported.in_checkpoint(converted.pointed) if converted else None,
            attempts=as_reported.attempts(self.attempts),
            verification=summary_of(outcome, self.benchmark, self.isolation),
            tried=tried_inputs(outcome),
            samples=as_reported.samples(outcome.samples) if outcome else [],
            blame=as_reported.blame(self.blame) if failure and self.blame else None,
            left_out=list(outcome.left_out) if outcome else [],
            measured=measured(outcome, self.benchmark),
            environment=as_reported.environment(self.versions),
            peak_memory_bytes=self.peak_memory_bytes,
            failure=failure,
        )

    def _has_artifact(self, failure: Failure | None) -> bool:
        """Return whether there is an artifact. In mode Verify it exists even if it fails."""
        return self.converted is not None and (failure is None or not self._publishes)

    def _source(self) -> ReportSource:
        identity, files = self.identity, self.source_files
        return ReportSource(
            uri=self.resource.spec.source.one,
            fingerprint=identity.fingerprint if identity else None,
            sha256=source_digest(files) if files else None,
            files=[as_artifact_file(file) for file in files],
        )

    def success(self, manifest: Manifest, report_uri: str, *, reused: bool) -> PodResult:
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

    def failure_result(self, failure: Failure, report_uri: str | None) -> PodResult:
        """Return the result for a failure."""
        return PodResult(
            outcome="Failed",
            verification=self.verification,
            failure=failure,
            completed=completed_before(failure.stage, self.resource.spec.mode),
            report_uri=report_uri,
            peak_memory_bytes=self.peak_memory_bytes or None,
        )


def completed_before(stage: Stage | None, mode: Mode = Mode.EXPORT) -> list[Stage]:
    """Return the stages of a mode that were over when a stage failed."""
    order = list(Stage)
    before = order[: order.index(stage)] if stage is not None else []
    return [entry for entry in before if entry in stages_of(mode)]


def as_artifact_file(file: WrittenFile | SourceFile) -> ArtifactFile:
    """Return name, size and digest of a file for a document."""
    return ArtifactFile(name=file.name, sha256=file.sha256, size_bytes=file.size_bytes)
