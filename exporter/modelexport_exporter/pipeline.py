"""The story of an export, from a ModelExport to its result.

    identify -> done already? -> fetch -> (export worker -> verify worker) by rungs -> publish

This process stays small: it never imports torch, and everything that holds weights or runs a user's
code happens in workers. Whatever happens, the answer is a `PodResult`; nothing lies under the final
name unless it was verified.
"""

from __future__ import annotations

import contextlib
import shutil
import time
import traceback
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path

from modelexport_api.pod import PodResult
from modelexport_api.reasons import Reason
from modelexport_api.resource import ModelExport
from modelexport_api.spec import Format, ModelExportSpec, Overwrite
from modelexport_api.status import Stage
from modelexport_exporter import fetch as fetching
from modelexport_exporter import identity, ladder
from modelexport_exporter.checkpoint.formats import detect
from modelexport_exporter.failure import (
    ExportFailure,
    NotDeterministic,
    RouteDeferred,
    printable,
)
from modelexport_exporter.isolation import worker
from modelexport_exporter.isolation.death import crashed
from modelexport_exporter.isolation.interruption import ignore_signals, interruptible
from modelexport_exporter.isolation.memory import MemoryWatch
from modelexport_exporter.log import Log
from modelexport_exporter.manifest import Decision, Found, Manifest, decide
from modelexport_exporter.progress import ByteCounter, ProgressReporter
from modelexport_exporter.publish import (
    REPORT_NAME,
    Claim,
    Publication,
    failed_report_name,
    opened,
    resource_key,
    taken,
)
from modelexport_exporter.record import Record
from modelexport_exporter.storage.store import Role, locate
from modelexport_exporter.storage.workspace import workspace
from modelexport_exporter.user_code.fetch_code import fetch_code
from modelexport_exporter.user_code.fetch_libraries import fetch_libraries
from modelexport_exporter.values import ConvertedModel, ExportTask
from modelexport_exporter.workers import Workers


@dataclass(frozen=True)
class Settings:
    """What a run takes besides the resource."""

    work_dir: Path
    export_entry: str = "modelexport_exporter.export_worker:export_model"
    verify_entry: str = "modelexport_exporter.verify_worker:verify_model"
    preload: tuple[str, ...] = worker.PRELOAD


def run(resource: ModelExport, settings: Settings, log: Log) -> PodResult:
    """Do what the resource asks for. Never raises; call it from the main thread."""
    pipeline = Pipeline(resource, settings, log)
    with interruptible():
        try:
            return pipeline.run()
        except ExportFailure as failure:
            ignore_signals()
            return pipeline.fail(failure)
        except Exception as error:  # noqa: BLE001 - a defect must reach the user as a result, too
            ignore_signals()
            log.tell("error", printable("".join(traceback.format_exception(error))))
            return pipeline.fail(crashed(f"{type(error).__name__}: {error}", None))


class Pipeline:
    """One run of one resource."""

    def __init__(self, resource: ModelExport, settings: Settings, log: Log) -> None:
        self._spec = resource.spec
        self._settings = settings
        self._log = log
        self._record = Record(resource)
        memory = MemoryWatch()
        self._report = ProgressReporter(log, memory)
        self._workers = Workers(
            settings.export_entry,
            settings.verify_entry,
            self._record,
            self._report,
            memory,
            log,
            deadline=time.monotonic() + self._spec.active_deadline_seconds,
        )
        self._source = locate(self._spec.source.uri, self._spec.storage, Role.SOURCE)
        destination = locate(self._spec.destination.uri, self._spec.storage, Role.DESTINATION)
        metadata = resource.metadata
        self._publication = Publication(
            destination.as_directory(),
            resource_key(metadata.name, metadata.namespace, metadata.uid),
        )

    def run(self) -> PodResult:
        """Return the result. Raises ExportFailure."""
        with workspace(self._settings.work_dir) as directory:
            code_dir = self._identify(directory)
            previous = self._publication.find()
            decision = self._decide(previous)
            if decision is Decision.REUSE and previous is not None:
                return self._reuse(previous)
            worker.start_server(self._settings.preload)
            with opened(self._publication):
                checkpoint = self._fetch(directory / "checkpoint")
                if decision is Decision.COMPARE_CONTENT and previous is not None:
                    self._record.source_files = checkpoint.digests()
                    if self._decide(previous) is Decision.REUSE:
                        return self._reuse(previous)
                return self._climb(checkpoint, code_dir, directory, previous)

    def _climb(
        self,
        checkpoint: fetching.Fetched,
        code_dir: Path | None,
        directory: Path,
        previous: Found | None,
    ) -> PodResult:
        """Try rung after rung until a file verifies, and publish that one."""
        form = _detected(checkpoint.checkpoint, self._spec)
        libraries = self._fetch_libraries(directory)
        task = ExportTask(
            self._spec, checkpoint.checkpoint, code_dir, directory, runtime_libraries=libraries
        )
        attempts = self._record.attempts
        while (step := ladder.next_step(self._spec, form, attempts)) is not None:
            output_dir = directory / f"output-{len(attempts)}"
            output_dir.mkdir()
            attempt = replace(task, output_dir=output_dir, rung=step.rung, insist=step.insist)
            result = self._attempt(attempt, checkpoint, previous)
            if result is not None:
                return result
            shutil.rmtree(output_dir)
        raise self._nothing_verified()

    def _attempt(
        self, task: ExportTask, checkpoint: fetching.Fetched, previous: Found | None
    ) -> PodResult | None:
        """Return the result if this rung's file was verified and published, else None."""
        started = time.monotonic()
        try:
            converted = self._workers.export(task)
            with self._staged(converted) as upload:
                self._workers.verify(task, converted)
                self._record.source_files = checkpoint.digests()
                fetching.check_unchanged(self._source, self._identity)
                self._note(task, started)
                return self._publish(converted, upload, previous)
        except ExportFailure as failure:
            if self._stage is Stage.PUBLISH:
                raise
            self._note(task, started, failure)
            self._publication.drop_staged()
            return None

    def _note(self, task: ExportTask, started: float, failure: ExportFailure | None = None) -> None:
        """Keep how an attempt ended."""
        self._record.attempts.append(
            ladder.Attempt(
                task.rung,
                round(time.monotonic() - started, 3),
                failure.describe(self._stage) if failure else None,
                not_deterministic=isinstance(failure, NotDeterministic),
                deferred=isinstance(failure, RouteDeferred),
                pitfalls=failure.pitfalls if failure else (),
            )
        )
        if failure is not None:
            message = f"{task.rung.value}: {failure.reason}: {printable(failure.message)}"
            self._log.tell("warning", message)

    def _nothing_verified(self) -> ExportFailure:
        """Return the failure that says most, and what the other rungs failed for."""
        attempts = self._record.attempts
        failure = ladder.telling(self._spec, attempts).failure
        assert failure is not None
        tried = ladder.summary(attempts)
        message = f"{failure.message} (tried {tried})" if tried else failure.message
        return ExportFailure(
            failure.reason, message, failure.hint, stage=failure.stage, ops=tuple(failure.ops)
        )

    @property
    def _identity(self) -> identity.SourceIdentity:
        assert self._record.identity is not None
        return self._record.identity

    def _identify(self, directory: Path) -> Path | None:
        """Find out what is asked for, by digests; fetch the code, which is small."""
        self._report(Stage.FETCH, 0.0, f"looking at {self._spec.source.uri}")
        with self._record.timed(Stage.FETCH):
            code_dir = None
            model = self._spec.model
            if model is not None and model.code is not None:
                code = locate(model.code.uri, self._spec.storage, Role.CODE)
                code_dir = fetch_code(code, directory)
            code_digest = identity.directory_digest(code_dir) if code_dir else None
            self._record.spec_sha256 = identity.spec_digest(
                self._spec, code_digest, self._record.versions
            )
            self._record.identity = fetching.identify(self._source, self._spec.source)
        return code_dir

    def _fetch_libraries(self, directory: Path) -> tuple[Path, ...]:
        storage = self._spec.storage
        uris = self._spec.export.runtime_libraries
        with self._record.timed(Stage.FETCH):
            return fetch_libraries([locate(uri, storage, Role.CODE) for uri in uris], directory)

    def _decide(self, previous: Found | None) -> Decision:
        overwrite = self._spec.destination.overwrite
        if previous is None and overwrite is Overwrite.NEVER:
            self._publication.check_unclaimed()
        decision = decide(overwrite, previous, self._record.work)
        if decision is Decision.REFUSE:
            raise taken(self._publication.destination.uri)
        return decision

    def _reuse(self, found: Found) -> PodResult:
        """Answer with what an earlier run published."""
        assert found.manifest is not None
        self._report(Stage.PUBLISH, 1.0, "the artifact of the same source and spec is there")
        self._clear_up(found.manifest)
        return self._record.succeeded(found.manifest, self._report_uri, reused=True)

    def _fetch(self, directory: Path) -> fetching.Fetched:
        with self._record.timed(Stage.FETCH):
            return fetching.fetch(
                self._source, self._identity, self._spec.source, directory, self._report
            )

    @contextlib.contextmanager
    def _staged(self, converted: ConvertedModel) -> Iterator[Future[None]]:
        """Upload to the staging directory beside the body; stop if the body fails."""
        total = sum(file.size_bytes for file in converted.files)
        counter = ByteCounter(self._report_upload, Stage.PUBLISH, total, "uploaded")

        def upload() -> None:
            for file in converted.files:
                path = converted.model_path.parent / file.name
                self._publication.stage(path, file.name, counter)

        with ThreadPoolExecutor(1, thread_name_prefix="upload") as pool:
            try:
                yield pool.submit(upload)
            except BaseException:
                counter.abandon()
                raise

    def _report_upload(self, stage: Stage, fraction: float, message: str) -> None:
        """Tell about uploads only when nothing else is going on."""
        if self._report.stage is stage:
            self._report(stage, fraction * 0.9, message)

    def _publish(
        self, converted: ConvertedModel, upload: Future[None], previous: Found | None
    ) -> PodResult:
        self._report(Stage.PUBLISH, 0.0, f"uploading to {self._publication.destination.uri}")
        with self._record.timed(Stage.PUBLISH):
            upload.result()
            destination = self._publication.destination
            report = self._record.report(destination).encode()
            path = converted.model_path.with_name(REPORT_NAME)
            path.write_bytes(report)
            self._publication.stage(path, REPORT_NAME, lambda _moved: None)
            manifest = self._record.manifest(destination, report)
            claim = Claim(manifest, self._record.work, previous)
            in_force = self._publication.commit(claim)
        self._clear_up(in_force)
        self._report(Stage.PUBLISH, 1.0, f"published {in_force.artifact.uri}")
        return self._record.succeeded(in_force, self._report_uri, reused=in_force is not manifest)

    @property
    def _stage(self) -> Stage | None:
        return self._report.stage

    @property
    def _report_uri(self) -> str:
        return self._publication.destination.child(REPORT_NAME).uri

    @property
    def _failed_name(self) -> str:
        name = self._record.resource.metadata.name
        return failed_report_name(name, self._record.spec_sha256 or "unknown")

    def _clear_up(self, in_force: Manifest) -> None:
        """Remove what earlier artifacts, killed runs and failures of the same work left."""
        try:
            self._publication.tidy(in_force)
            self._publication.delete(self._failed_name)
        except ExportFailure as failure:
            self._log.tell("warning", f"something is left over: {failure.message}")

    def fail(self, failure: ExportFailure) -> PodResult:
        """Return the result for a failure, and publish its report where that is possible."""
        described = failure.describe(self._report.stage)
        report_uri = None
        if failure.reason not in {Reason.DESTINATION_DENIED, Reason.INVALID_MANIFEST}:
            report = self._record.report(self._publication.destination, described).encode()
            try:
                report_uri = self._publication.publish_failure(self._failed_name, report)
            except Exception as second:  # noqa: BLE001 - the first failure is the one to tell
                self._log.tell(
                    "warning", f"the report could not be stored: {printable(str(second))}"
                )
        return self._record.failed(described, report_uri)


def _detected(checkpoint: Path, spec: ModelExportSpec) -> Format | None:
    """Return what the checkpoint is; None where loading it has to tell, or to complain."""
    try:
        return detect(checkpoint, spec.source.format).format
    except ExportFailure:
        return None
