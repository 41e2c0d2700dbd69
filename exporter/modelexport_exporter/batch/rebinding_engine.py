"""The engine of a batch: one translation for all checkpoints of a model, in a pipeline of three.

    this checkpoint:      verify -> publish
    the next one:         rebind -> upload, invisible to readers (in threads, by another worker)
    the one after that:   fetch

Two processes are busy at a time, and the disk holds three checkpoints.
"""

from __future__ import annotations

import contextlib
import shutil
import tempfile
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

from modelexport_api.isolation import IsolationInForce
from modelexport_api.pod import PodResult
from modelexport_api.reasons import Reason
from modelexport_api.resource import ModelExport
from modelexport_api.spec import Mode, ModelExportSpec
from modelexport_exporter.batch.buffered_log import BufferedLog
from modelexport_exporter.batch.rebinding_run import RebindingRun
from modelexport_exporter.batch.resident_workers import ResidentWorkerPool
from modelexport_exporter.core.errors import ExportFailure
from modelexport_exporter.core.log import Log
from modelexport_exporter.isolation import server, worker
from modelexport_exporter.isolation.interruption import ignore_signals, interruptible
from modelexport_exporter.isolation.sandbox.enter import sandbox_for
from modelexport_exporter.isolation.unexpected_error import unexpected_error
from modelexport_exporter.pipeline import run as pipeline
from modelexport_exporter.pipeline.context import RunContext, Settings
from modelexport_exporter.source.dependencies import Dependencies, gather
from modelexport_exporter.storage.workspace import workspace


@dataclass
class _PreparedItem:
    """A checkpoint that is being exported, or is prepared to be next."""

    spec: ModelExportSpec
    run: RebindingRun
    log: BufferedLog
    directory: Path
    held: ExitStack = field(default_factory=ExitStack)
    fetched: Future[None] | None = None
    bound: Future[None] | None = None

    def close(self) -> None:
        """Remove its files from this machine and from the staging directory."""
        self.run.abandon()
        for step in filter(None, (self.fetched, self.bound)):
            with contextlib.suppress(BaseException):
                step.result()
        self.run.end_upload()
        self.held.close()
        worker.remove_outputs(self.directory)
        shutil.rmtree(self.directory, ignore_errors=True)


class RebindingEngine:
    """Exports the checkpoints of a share."""

    def __init__(self, settings: Settings, pool: ResidentWorkerPool | None = None) -> None:
        self._settings = settings
        self._pool = pool or ResidentWorkerPool(settings)
        self._pool.on_graph = self._bind_next
        self._held = ExitStack()
        self._directory: Path | None = None
        self._isolation: IsolationInForce | None = None
        self._dependencies: Dependencies | None = None
        self._next: list[_PreparedItem] = []
        self._fetching = ThreadPoolExecutor(1, thread_name_prefix="fetch")
        self._binding = ThreadPoolExecutor(1, thread_name_prefix="bind")
        """Only one thread calls the worker that has the graph."""

    def export(self, item: ModelExport, following: Sequence[ModelExport], log: Log) -> PodResult:
        """Return the result of one checkpoint, and prepare the next ones meanwhile."""
        if item.spec.mode is Mode.VERIFY:
            return pipeline.run(item, self._settings, log)
        with interruptible():
            prepared = self._take_prepared(item)
            prepared.log.attach(log)
            try:
                return self._run(prepared, following)
            except ExportFailure as failure:
                if failure.reason is Reason.INTERRUPTED:
                    ignore_signals()
                    self._pool.close()
                return pipeline.fail(prepared.run, failure)
            except Exception as error:  # noqa: BLE001 - an unexpected error is a result, too
                return pipeline.fail(prepared.run, unexpected_error(error, log))
            finally:
                prepared.close()

    def close(self) -> None:
        """End all workers, and remove what was prepared."""
        self._pool.close()
        self._drop()
        self._fetching.shutdown()
        self._binding.shutdown()
        self._held.close()

    def _run(self, prepared: _PreparedItem, following: Sequence[ModelExport]) -> PodResult:
        if prepared.fetched is None:
            self._fetch(prepared)
        else:
            prepared.fetched.result()
        self._bind(prepared).result()
        self._prepare_next(following)
        return prepared.run.run()

    def _take_prepared(self, item: ModelExport) -> _PreparedItem:
        """Return this checkpoint as it was prepared, or a new one."""
        if self._next and _key(self._next[0].spec) == _key(item.spec):
            return self._next.pop(0)
        self._drop()
        return self._create(item)

    def _drop(self) -> None:
        items, self._next = self._next, []
        for prepared in items:
            prepared.run.abandon()
        for prepared in items:
            prepared.close()

    def _create(self, item: ModelExport) -> _PreparedItem:
        if self._directory is None:
            self._directory = self._held.enter_context(workspace(self._settings.work_dir))
            sandbox = sandbox_for(self._settings.batch or item.spec, self._directory)
            self._isolation = sandbox.in_force
            self._held.enter_context(worker.sandboxed(sandbox))
            server.start_server(self._settings.preload)
        directory = Path(tempfile.mkdtemp(prefix="checkpoint-", dir=self._directory))
        log = BufferedLog()
        context = RunContext.create(item, self._settings, log, self._pool)
        context.record.isolation = self._isolation
        run = RebindingRun(context, self._pool)
        return _PreparedItem(item.spec, run, log, directory)

    def _prepare_next(self, following: Sequence[ModelExport]) -> None:
        """Fetch the next checkpoints in the background, and bind the first of them."""
        for item in following[len(self._next) :]:
            prepared = self._create(item)
            prepared.fetched = self._fetching.submit(self._fetch, prepared)
            self._next.append(prepared)
        self._bind_next()

    def _bind_next(self) -> None:
        if self._next:
            self._bind(self._next[0])

    def _bind(self, prepared: _PreparedItem) -> Future[None]:
        """Bind a checkpoint to the kept graph once it is fetched; not twice."""
        fetched = prepared.fetched

        def bind() -> None:
            if fetched is not None:
                fetched.result()
            prepared.run.rebind()

        prepared.bound = self._binding.submit(bind)
        return prepared.bound

    def _fetch(self, prepared: _PreparedItem) -> None:
        if self._dependencies is None:
            shared = tempfile.mkdtemp(prefix="shared-", dir=self._directory)
            self._dependencies = gather(self._settings.batch or prepared.spec, Path(shared))
        prepared.run.fetch(prepared.directory, prepared.held, self._dependencies)


def _key(spec: ModelExportSpec) -> tuple[str, str]:
    return spec.source.one, spec.destination.uri
