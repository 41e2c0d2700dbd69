"""One pod's way through its share: each checkpoint gets an answer, whatever becomes of the others.

    journal: done? -> killed too often? -> begin -> engine, a few times -> journal

Ends early only for a signal, for the deadline, and for what concerns the batch as a whole.
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
from modelexport_exporter.batch.failures import concerns_all, pause_before, tries_again
from modelexport_exporter.batch.items import ItemResult, ended, killed
from modelexport_exporter.batch.journal import MOST_KILLS, Keeper
from modelexport_exporter.batch.plan import PlanItem, Planned
from modelexport_exporter.batch.results import counts_of
from modelexport_exporter.batch.share_log import ShareLog
from modelexport_exporter.core.errors import ExportFailure
from modelexport_exporter.core.log import Log
from modelexport_exporter.isolation.interruption import ignore_signals
from modelexport_exporter.isolation.unexpected_error import unexpected_error

AHEAD = 2
"""How many of the next checkpoints an engine is told: one to be bound, one to be downloaded."""


@dataclass
class Loop:
    """Goes through a share."""

    planned: Planned
    share: int
    keeper: Keeper
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
        self._counts = counts_of(self.planned, self.share, self.keeper.results)
        self._log = ShareLog(self.log, len(self._items), self.counts)

    def counts(self) -> ShareCounts:
        """Return how far the share is."""
        return self._counts.model_copy(update={"running": self._running})

    def run(self) -> Failure | None:
        """Try all that is left; return what ended it early, if anything did."""
        left = [item for item in self._items if not self.keeper.has(item.uri)]
        before = len(self._items) - len(left)
        message = f"{len(left)} of {len(self.planned.plan.items)} checkpoints are to be done here"
        self._log.move(Stage.FETCH, before, 0, message)
        try:
            for place, item in enumerate(left):
                ahead = left[place + 1 : place + 1 + AHEAD]
                failure = self._try(item, ahead, before + place)
                if failure is not None:
                    return failure
        except ExportFailure as failure:  # a signal came between two checkpoints
            ignore_signals()
            self.keeper.stop()
            return failure.describe()
        return None

    def _try(self, item: PlanItem, ahead: Sequence[PlanItem], done: int) -> Failure | None:
        """Find the answer of one checkpoint; return a failure that is not its own."""
        if self.clock() >= self._deadline:
            return _too_late()
        kills = self.keeper.kills(item.uri)
        if kills >= MOST_KILLS:
            self._record(killed(item, kills), done)
            return None
        self.keeper.begin(item.uri)
        self._running = 1
        try:
            # Once a pod has died here, nothing is got ready ahead: it may not have been this one.
            following = () if kills else ahead
            result = self._answer(item, following, done)
        finally:
            self._running = 0
        if result.reason is Reason.INTERRUPTED:
            ignore_signals()
            self.keeper.stop()
            return _failure(result)
        self._tried.append(result)
        self._record(result, done)
        concerned = concerns_all(self._tried, len(self._items))
        return _failure(result) if concerned else None

    def _record(self, result: ItemResult, done: int) -> None:
        self.keeper.record(result)
        self._counts = counts_of(self.planned, self.share, self.keeper.results)
        self._log.ended(result, done + 1)

    def _answer(self, item: PlanItem, following: Sequence[PlanItem], done: int) -> ItemResult:
        """Export one checkpoint, again where trying again can help."""
        started, attempts = self.clock(), 0
        log = self._log.item(item.name, done)
        while True:
            attempts += 1
            result = self._export(
                self._single(item), [self._single(entry) for entry in following], log
            )
            self.peak_memory_bytes = max(self.peak_memory_bytes, result.peak_memory_bytes or 0)
            failure = result.failure
            if failure is None or not tries_again(failure, attempts):
                return ended(item, result, self.clock() - started, attempts)
            seconds = pause_before(attempts + 1, random.random())  # noqa: S311 - no secret
            log.log(
                "warning",
                f"{failure.reason}: {failure.message}; tried again in {seconds:.1f} s",
            )
            self.pause(seconds)

    def _export(self, item: ModelExport, following: Sequence[ModelExport], log: Log) -> PodResult:
        try:
            return self.engine.export(item, following, log)
        except ExportFailure as failure:
            return PodResult(outcome="Failed", failure=failure.describe())
        except Exception as error:  # noqa: BLE001 - a defect is this checkpoint's failure, too
            failed = unexpected_error(error, log).describe()
            return PodResult(outcome="Failed", failure=failed)

    def _single(self, item: PlanItem) -> ModelExport:
        """Return a checkpoint as an export of its own, which may take what is left of the time."""
        resource = self.planned.item(item)
        left = max(1, math.ceil(self._deadline - self.clock()))
        spec = resource.spec.model_copy(update={"active_deadline_seconds": left})
        return resource.model_copy(update={"spec": spec})


def _failure(result: ItemResult) -> Failure:
    """Return a checkpoint's failure as that of the batch."""
    assert result.reason is not None
    of_all = result.reason is not Reason.INTERRUPTED
    said = f"{result.name}: {result.message}" if of_all else result.message
    described = ExportFailure(result.reason, said, result.hint, stage=result.stage)
    return described.describe()


def _too_late() -> Failure:
    return ExportFailure(
        Reason.DEADLINE_EXCEEDED,
        "not all checkpoints were done within spec.activeDeadlineSeconds",
        "Raise spec.activeDeadlineSeconds, or spec.parallelism. What was published stays.",
    ).describe()
