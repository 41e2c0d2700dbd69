"""The story of an export, from a ModelExport to its result.

    identify -> done already? -> fetch -> (export worker -> verify worker) by rungs -> publish

This process stays small: it never imports torch, and everything that holds weights or runs a user's
code happens in workers. Whatever happens, the answer is a `PodResult`; nothing lies under the final
name unless it was verified.
"""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

from modelexport_api.pod import PodResult
from modelexport_api.reasons import Reason
from modelexport_api.resource import ModelExport
from modelexport_api.spec import Layout, Mode, Overwrite
from modelexport_api.status import Failure, Stage
from modelexport_exporter.core.attempt import Attempt, most_informative
from modelexport_exporter.core.blame import REPRO_FILES
from modelexport_exporter.core.errors import (
    ExportFailure,
    NotDeterministic,
    RouteFallback,
    printable,
)
from modelexport_exporter.core.log import Log
from modelexport_exporter.core.types import ConvertedModel, ExportTask
from modelexport_exporter.isolation import worker
from modelexport_exporter.isolation.interruption import ignore_signals, interruptible
from modelexport_exporter.isolation.unexpected_error import unexpected_error
from modelexport_exporter.onnx_file.metadata import append_metadata
from modelexport_exporter.pipeline import ladder
from modelexport_exporter.pipeline.fetch_stage import FetchStage
from modelexport_exporter.pipeline.fetched import FetchedCheckpoint
from modelexport_exporter.pipeline.run_base import Settings, Story
from modelexport_exporter.pipeline.verify_run import Reverification
from modelexport_exporter.pipeline.worker_client import WorkerPool
from modelexport_exporter.publish.early_upload import EarlyUpload
from modelexport_exporter.publish.layout import PAGE_NAME, REPORT_NAME
from modelexport_exporter.publish.manifest import Decision, Found, Manifest, decide
from modelexport_exporter.publish.publish import (
    Claim,
    Publication,
    destination_taken,
    failed_directory,
    open_publication,
    resource_key,
)
from modelexport_exporter.report.documents import (
    both_reports,
    describe_files,
    documents,
    failed_documents,
)
from modelexport_exporter.report.signing import Signer, take_signer
from modelexport_exporter.report.triton_config import check_servable
from modelexport_exporter.source.dependencies import Dependencies
from modelexport_exporter.storage.locate import Stores
from modelexport_exporter.storage.workspace import workspace

__all__ = ["Pipeline", "Settings", "run"]


def run(resource: ModelExport, settings: Settings, log: Log) -> PodResult:
    """Do what the resource asks for. Never raises; call it from the main thread."""
    kind = Reverification if resource.spec.mode is Mode.VERIFY else Pipeline
    story = kind(resource, settings, log)
    with interruptible():
        try:
            return story.run()
        except ExportFailure as failure:
            ignore_signals()
            return story.fail(failure)
        except Exception as error:  # noqa: BLE001 - a defect must reach the user as a result, too
            ignore_signals()
            return story.fail(unexpected_error(error, log))


class Pipeline(Story):
    """One run of one resource that exports."""

    def __init__(
        self, resource: ModelExport, settings: Settings, log: Log, pool: WorkerPool = worker.run
    ) -> None:
        super().__init__(resource, settings, log, pool)
        metadata = resource.metadata
        self._publication = Publication(
            Stores(self._spec).destination(self._spec.destination.uri),
            resource_key(metadata.name, metadata.namespace, metadata.uid),
            self._spec.destination.layout,
        )
        self._signer: Signer | None = None

    def run(self) -> PodResult:
        """Return the result. Raises ExportFailure."""
        with workspace(self._settings.work_dir) as directory, ExitStack() as held:
            brought = self.bring(directory, held)
            return brought if isinstance(brought, PodResult) else self._climb(brought)

    def bring(
        self, directory: Path, held: ExitStack, dependencies: Dependencies | None = None
    ) -> FetchedCheckpoint | PodResult:
        """Bring the checkpoint to this machine, or answer at once with what was published before.

        The destination is open until `held` is closed. `dependencies`: what is here already. Raises
        ExportFailure.
        """
        required = self._spec.destination.signing_secret_name is not None
        self._signer = self._settings.signer or take_signer(os.environ, required=required)
        self._record.signed_by = self._signer.key_id if self._signer else None
        fetch_stage = FetchStage(self._spec, directory, self._record, self._report, dependencies)
        fetch_stage.identify()
        previous = self._publication.find()
        decision = self._decide(previous)
        if decision is Decision.REUSE and previous is not None:
            return self._reuse(previous)
        self._warm_up()
        held.enter_context(open_publication(self._publication))
        checkpoint = fetch_stage.fetch()
        if decision is Decision.COMPARE_CONTENT and previous is not None:
            self._record.source_files = checkpoint.digests()
            if self._decide(previous) is Decision.REUSE:
                return self._reuse(previous)
        return FetchedCheckpoint(fetch_stage, checkpoint, previous)

    def _warm_up(self) -> None:
        """Begin importing what the workers need."""
        worker.start_server(self._settings.preload)

    def _climb(self, brought: FetchedCheckpoint) -> PodResult:
        """Try rung after rung until a file verifies, and publish that one."""
        form = brought.format
        attempts = self._record.attempts
        while (step := ladder.next_step(self._spec, form, attempts)) is not None:
            task = brought.task(f"output-{len(attempts)}")
            result = self._attempt(replace(task, rung=step.rung, force=step.force), brought)
            if result is not None:
                return result
            shutil.rmtree(task.output_dir)
        raise self._nothing_verified()

    def _attempt(self, task: ExportTask, brought: FetchedCheckpoint) -> PodResult | None:
        """Return the result if this rung's file was verified and published, else None."""
        started = time.monotonic()
        try:
            converted = self._workers.export(task)
            return self._proven(task, converted, brought, then=lambda: self._note(task, started))
        except ExportFailure as failure:
            if self._stage is Stage.PUBLISH:
                raise
            self._note(task, started, failure)
            self._publication.drop_staged()
            return None

    def _proven(
        self,
        task: ExportTask,
        converted: ConvertedModel,
        brought: FetchedCheckpoint,
        then: Callable[[], None],
        upload: EarlyUpload | None = None,
    ) -> PodResult:
        """Verify a file, do `then`, and publish it. Raises ExportFailure."""
        if self._record.layout is Layout.TRITON:
            check_servable([*converted.inputs, *converted.outputs])
        upload = upload or self._begin_upload(converted)
        try:
            self._workers.verify(task, converted)
            self._record.source_files = brought.checkpoint.digests()
            brought.fetch_stage.check_unchanged()
            then()
            return self._publish(converted, upload, brought.previous)
        except BaseException:
            upload.stop()
            raise

    def _note(self, task: ExportTask, started: float, failure: ExportFailure | None = None) -> None:
        """Keep how an attempt ended."""
        outcome = self._record.outcome
        differs = failure is not None and failure.reason is Reason.VERIFICATION_FAILED
        self._record.attempts.append(
            Attempt(
                task.rung,
                round(time.monotonic() - started, 3),
                failure.describe(self._stage) if failure else None,
                not_deterministic=isinstance(failure, NotDeterministic),
                deferred=isinstance(failure, RouteFallback),
                pitfalls=failure.pitfalls if failure else (),
                blame=outcome.blame if outcome and differs else None,
            )
        )
        if failure is not None:
            message = f"{task.rung.value}: {failure.reason}: {printable(failure.message)}"
            self._log.log("warning", message)

    def _nothing_verified(self) -> ExportFailure:
        """Return the failure that says most, and what the other rungs failed for."""
        attempts = self._record.attempts
        failure = most_informative(self._spec, attempts).failure
        assert failure is not None
        tried = ladder.summary(attempts)
        message = f"{failure.message} (tried {tried})" if tried else failure.message
        return ExportFailure(
            failure.reason, message, failure.hint, stage=failure.stage, ops=tuple(failure.ops)
        )

    def _decide(self, previous: Found | None) -> Decision:
        overwrite = self._spec.destination.overwrite
        if previous is None and overwrite is Overwrite.NEVER:
            self._publication.check_unclaimed()
        decision = decide(overwrite, previous, self._record.work)
        if decision is Decision.REFUSE:
            raise destination_taken(self._publication.destination.uri)
        return decision

    def _reuse(self, found: Found) -> PodResult:
        """Answer with what an earlier run published."""
        assert found.manifest is not None
        self._report(Stage.PUBLISH, 1.0, "the artifact of the same source and spec is there")
        self._clear_up(found.manifest)
        return self._record.success(found.manifest, self._report_uri, reused=True)

    def _begin_upload(self, converted: ConvertedModel) -> EarlyUpload:
        return EarlyUpload(self._publication, converted, self._report_upload)

    def _report_upload(self, stage: Stage, fraction: float, message: str) -> None:
        """Tell about uploads only when nothing else is going on."""
        if self._report.stage is stage:
            self._report(stage, fraction * 0.9, message)

    def _publish(
        self, converted: ConvertedModel, upload: EarlyUpload, previous: Found | None
    ) -> PodResult:
        destination = self._publication.destination
        self._report(Stage.PUBLISH, 0.0, f"uploading to {destination.uri}")
        with self._record.time_stage(Stage.PUBLISH):
            upload.wait()
            self._record.replace_model_file(
                append_metadata(converted.model_path, self._record.metadata)
            )
            self._stage_file(converted.model_path)
            made = documents(self._record, destination, self._signer)
            for name, content in made.items():
                path = converted.model_path.with_name(name)
                path.write_bytes(content)
                self._stage_file(path)
            replaced = (previous.manifest or previous.broken) if previous else None
            manifest = self._record.manifest(destination, describe_files(made), replaced)
            claim = Claim(manifest, self._record.work, previous)
            in_force = self._publication.commit(claim)
        self._clear_up(in_force)
        self._report(Stage.PUBLISH, 1.0, f"published {in_force.artifact.uri}")
        return self._record.success(in_force, self._report_uri, reused=in_force is not manifest)

    def _stage_file(self, path: Path) -> None:
        self._publication.stage(path, path.name, lambda _moved: None)

    @property
    def _report_uri(self) -> str:
        return self._publication.destination.child(REPORT_NAME).uri

    @property
    def _failed(self) -> str:
        name = self._record.resource.metadata.name
        return failed_directory(name, self._record.spec_sha256 or "unknown")

    def _clear_up(self, in_force: Manifest) -> None:
        """Remove what earlier artifacts, killed runs and failures of the same work left."""
        try:
            self._publication.tidy(in_force)
            told = (PAGE_NAME, REPORT_NAME, *REPRO_FILES)
            self._publication.forget_failure(self._failed, told)
        except ExportFailure as failure:
            self._log.log("warning", f"something is left over: {failure.message}")

    def _tell_failure(self, failure: Failure) -> str:
        """Publish the reports of a failure; return the URI of report.json."""
        report = self._record.report(self._publication.destination, failure)
        found = {
            name: self._publication.publish_failure(self._failed + name, content)
            for name, content in (failed_documents(self._record) | both_reports(report)).items()
        }
        return found[REPORT_NAME]
