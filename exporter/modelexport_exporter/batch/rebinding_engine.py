"""The engine of a batch: one translation for all checkpoints of a model, and two turns ahead.

    this one:             verify -> publish
    the next one:         rebind -> upload, unseen      (in threads, by another worker)
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

from modelexport_api.pod import PodResult
from modelexport_api.reasons import Reason
from modelexport_api.resource import ModelExport
from modelexport_api.spec import Mode, ModelExportSpec
from modelexport_exporter.batch.buffered_log import BufferedLog
from modelexport_exporter.batch.rebinding_run import ItemPipeline
from modelexport_exporter.batch.resident_workers import ResidentWorkerPool
from modelexport_exporter.core.errors import ExportFailure
from modelexport_exporter.core.log import Log
from modelexport_exporter.isolation import worker
from modelexport_exporter.isolation.interruption import ignore_signals, interruptible
from modelexport_exporter.isolation.unexpected_error import unexpected_error
from modelexport_exporter.pipeline import export_run as pipeline
from modelexport_exporter.pipeline.run_base import Settings
from modelexport_exporter.source.dependencies import Dependencies, gather
from modelexport_exporter.storage.workspace import workspace


@dataclass
class _PreparedItem:
    """A checkpoint whose turn has come, or comes next."""

    spec: ModelExportSpec
    story: ItemPipeline
    log: BufferedLog
    directory: Path
    held: ExitStack = field(default_factory=ExitStack)
    fetched: Future[None] | None = None
    bound: Future[None] | None = None

    def close(self) -> None:
        """Leave nothing of it on this machine, nor staged."""
        self.story.abandon()
        for step in filter(None, (self.fetched, self.bound)):
            with contextlib.suppress(BaseException):
                step.result()
        self.story.end_upload()
        self.held.close()
        shutil.rmtree(self.directory, ignore_errors=True)


class RebindingEngine:
    """Exports the checkpoints of a share."""

    def __init__(self, settings: Settings, pool: ResidentWorkerPool | None = None) -> None:
        self._settings = settings
        self._crew = pool or ResidentWorkerPool(settings)
        self._crew.on_graph = self._bind_next
        self._held = ExitStack()
        self._directory: Path | None = None
        self._belongings: Dependencies | None = None
        self._next: list[_PreparedItem] = []
        self._fetching = ThreadPoolExecutor(1, thread_name_prefix="fetch")
        self._binding = ThreadPoolExecutor(1, thread_name_prefix="bind")
        """The worker that has the graph is asked by one thread only."""

    def export(self, item: ModelExport, following: Sequence[ModelExport], log: Log) -> PodResult:
        """Return what became of one checkpoint, and get the next ones ready meanwhile."""
        if item.spec.mode is Mode.VERIFY:
            return pipeline.run(item, self._settings, log)
        with interruptible():
            turn = self._take(item)
            turn.log.attach(log)
            try:
                return self._run(turn, following)
            except ExportFailure as failure:
                if failure.reason is Reason.INTERRUPTED:
                    ignore_signals()
                    self._crew.close()
                return turn.story.fail(failure)
            except Exception as error:  # noqa: BLE001 - a defect is a result, too
                return turn.story.fail(unexpected_error(error, log))
            finally:
                turn.close()

    def close(self) -> None:
        """End all workers, drop what was prepared, leave nothing on this machine."""
        self._crew.close()
        self._drop()
        self._fetching.shutdown()
        self._binding.shutdown()
        self._held.close()

    def _run(self, turn: _PreparedItem, following: Sequence[ModelExport]) -> PodResult:
        if turn.fetched is None:
            self._prepare(turn)
        else:
            turn.fetched.result()
        self._bind(turn).result()
        self._get_ready(following)
        return turn.story.run()

    def _take(self, item: ModelExport) -> _PreparedItem:
        """Return the turn that was begun for this checkpoint, or a new one."""
        if self._next and _key(self._next[0].spec) == _key(item.spec):
            return self._next.pop(0)
        self._drop()
        return self._turn(item)

    def _drop(self) -> None:
        turns, self._next = self._next, []
        for turn in turns:
            turn.story.abandon()
        for turn in turns:
            turn.close()

    def _turn(self, item: ModelExport) -> _PreparedItem:
        if self._directory is None:
            self._directory = self._held.enter_context(workspace(self._settings.work_dir))
            worker.start_server(self._settings.preload)
        directory = Path(tempfile.mkdtemp(prefix="checkpoint-", dir=self._directory))
        log = BufferedLog()
        story = ItemPipeline(item, self._settings, log, self._crew)
        return _PreparedItem(item.spec, story, log, directory)

    def _get_ready(self, following: Sequence[ModelExport]) -> None:
        """Fetch the next checkpoints in the background, and bind the first of them."""
        for item in following[len(self._next) :]:
            turn = self._turn(item)
            turn.fetched = self._fetching.submit(self._prepare, turn)
            self._next.append(turn)
        self._bind_next()

    def _bind_next(self) -> None:
        if self._next:
            self._bind(self._next[0])

    def _bind(self, turn: _PreparedItem) -> Future[None]:
        """Bind a checkpoint to the graph at hand, once it is here; not twice."""
        fetched = turn.fetched

        def bind() -> None:
            if fetched is not None:
                fetched.result()
            turn.story.rebind()

        turn.bound = self._binding.submit(bind)
        return turn.bound

    def _prepare(self, turn: _PreparedItem) -> None:
        if self._belongings is None:
            shared = tempfile.mkdtemp(prefix="shared-", dir=self._directory)
            self._belongings = gather(turn.spec, Path(shared))
        turn.story.prepare(turn.directory, turn.held, self._belongings)


def _key(spec: ModelExportSpec) -> tuple[str, str]:
    return spec.source.one, spec.destination.uri
