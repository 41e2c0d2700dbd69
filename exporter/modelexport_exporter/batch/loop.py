"""Exports a pod's share: each checkpoint gets a result, independent of the others.

    journal: done? -> killed too often? -> begin -> engine, up to three times -> journal

Ends early only for a signal, for the deadline, and for a failure that all checkpoints share.
"""

from __future__ import annotations

import math
import random
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from modelexport_api.items import ShareCounts
from modelexport_api.pod import PodResult
from modelexport_api.reasons import Reason
from modelexport_api.resource import ModelExport
from modelexport_api.status import Failure, Stage
from modelexport_exporter.batch.engine import Engine
from modelexport_exporter.batch.failures import is_shared_failure, retry_delay, should_retry
from modelexport_exporter.batch.item_result import ItemResult, finished_result, killed_result
from modelexport_exporter.batch.journal import MOST_KILLS, JournalWriter
from modelexport_exporter.batch.plan import PlanItem, Planned
from modelexport_exporter.batch.results import counts_of
from modelexport_exporter.batch.share_log import ShareLog
from modelexport_exporter.core.errors import ExportFailure
from modelexport_exporter.core.log import Log
from modelexport_exporter.isolation.interruption import ignore_signals
from modelexport_exporter.isolation.unexpected_error import unexpected_error

AHEAD = 2
"""How many of the next checkpoints an engine prepares: one to bind, one to download."""


@dataclass
class Loop:
    """Exports a share."""

    planned: Planned
    share: int
    journal: JournalWriter
    engine: Engine
    log: Log
    pause: Callable[[float], None] = time.sleep
    clock: Callable[[], float] = time.monotonic
    peak_memory_bytes: int = 0
    _running: int = 0
    _tried: list[ItemResult] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._deadline = self.clock() + self.planned.resource.spec.active_deadline_seconds
        self._items = self.planned.plan.share(self.share)
        self._counts = counts_of(self.planned, self.share, self.journal.results)
        self._log = ShareLog(self.log, len(self._items), self.counts)

    def counts(self) -> ShareCounts:
        """Return how far the share is."""
        return self._counts.model_copy(update={"running": self._running})

    def run(self) -> Failure | None:
        """Export all that is left; return the failure that ended the share early, if any."""
        left = [item for item in self._items if not self.journal.has(item.uri)]
        before = len(self._items) - len(left)
        message = f"{len(left)} of {len(self.planned.plan.items)} checkpoints to export in this pod"
        self._log.report(Stage.FETCH, before, 0, message)
        try:
            for place, item in enumerate(left):
                ahead = left[place + 1 : place + 1 + AHEAD]
                failure = self._try(item, ahead, before + place)
                if failure is not None:
                    return failure
        except ExportFailure as failure:  # a signal came between two checkpoints
            ignore_signals()
            self.journal.stop()
            return failure.describe()
        return None

    def _try(self, item: PlanItem, ahead: Sequence[PlanItem], done: int) -> Failure | None:
        """Export one checkpoint; return a failure that ends the batch."""
        if self.clock() >= self._deadline:
            return _too_late()
        kills = self.journal.kills(item.uri)
        if kills >= MOST_KILLS:
            self._record(killed_result(item, kills), done)
            return None
        self.journal.begin(item.uri)
        self._running = 1
        try:
            # Once a pod was killed here, nothing is prepared ahead: that may have been the cause.
            following = () if kills else ahead
            result = self._retry(item, following, done)
        finally:
            self._running = 0
        if result.reason is Reason.INTERRUPTED:
            ignore_signals()
            self.journal.stop()
            return _failure(result)
        self._tried.append(result)
        self._record(result, done)
        shared = is_shared_failure(self._tried, len(self._items))
        return _failure(result) if shared else None

    def _record(self, result: ItemResult, done: int) -> None:
        self.journal.record(result)
        self._counts = counts_of(self.planned, self.share, self.journal.results)
        self._log.item_finished(result, done + 1)

    def _retry(self, item: PlanItem, following: Sequence[PlanItem], done: int) -> ItemResult:
        """Export one checkpoint, with retries where they can help."""
        started, attempts = self.clock(), 0
        log = self._log.item(item.name, done)
        while True:
            attempts += 1
            result = self._export(
                self._single(item), [self._single(entry) for entry in following], log
            )
            self.peak_memory_bytes = max(self.peak_memory_bytes, result.peak_memory_bytes or 0)
            failure = result.failure
            if failure is None or not should_retry(failure, attempts):
                return finished_result(item, result, self.clock() - started, attempts)
            seconds = retry_delay(attempts + 1, random.random())  # noqa: S311 - no secret
            log.log(
                "warning",
                f"{failure.reason}: {failure.message}; retrying in {seconds:.1f} s",
            )
            self.pause(seconds)

    def _export(self, item: ModelExport, following: Sequence[ModelExport], log: Log) -> PodResult:
        try:
            return self.engine.export(item, following, log)
        except ExportFailure as failure:
            return PodResult(outcome="Failed", failure=failure.describe())
        except Exception as error:  # noqa: BLE001 - an unexpected error is this checkpoint's failure
            failed = unexpected_error(error, log).describe()
            return PodResult(outcome="Failed", failure=failed)

    def _single(self, item: PlanItem) -> ModelExport:
        """Return a checkpoint as an export of its own, limited to the remaining time."""
        resource = self.planned.item(item)
        left = max(1, math.ceil(self._deadline - self.clock()))
        spec = resource.spec.model_copy(update={"active_deadline_seconds": left})
        return resource.model_copy(update={"spec": spec})


def _failure(result: ItemResult) -> Failure:
    """Return a checkpoint's failure as the batch's."""
    assert result.reason is not None
    of_all = result.reason is not Reason.INTERRUPTED
    message = f"{result.name}: {result.message}" if of_all else result.message
    described = ExportFailure(result.reason, message, result.hint, stage=result.stage)
    return described.describe()


def _too_late() -> Failure:
    return ExportFailure(
        Reason.DEADLINE_EXCEEDED,
        "not all checkpoints were exported within spec.activeDeadlineSeconds",
        "Raise spec.activeDeadlineSeconds, or spec.parallelism. What was published stays.",
    ).describe()
