"""One trigger: watch what it selects, deal with each completion, tell about it.

Level-based: a round begins with the trigger as the API server has it and a list of what is there,
and may end at any instruction. A ModelExport is created first and recorded in the status then;
until it is recorded its name makes a second creation a conflict.
"""

from __future__ import annotations

import asyncio
import logging
import random
from collections.abc import AsyncIterator
from contextlib import aclosing, suppress
from dataclasses import dataclass

from modelexport_api.trigger_resource import ModelExportTrigger
from modelexport_operator.client import NOT_FOUND, Api, ApiError
from modelexport_operator.events import Recorder
from modelexport_operator.triggers import ready, selection
from modelexport_operator.triggers.candidates import Candidate, candidate, is_wanted
from modelexport_operator.triggers.creation import Creation
from modelexport_operator.triggers.kinds import TriggerSettings, WatchedKind
from modelexport_operator.triggers.metrics import TriggerMetrics
from modelexport_operator.triggers.outcome import Outcome
from modelexport_operator.triggers.ready import Readiness
from modelexport_operator.triggers.record import NotReadyError, Record, Subject
from modelexport_operator.triggers.stream import Collection, Seen, Stream

_BAD_REQUEST, _FORBIDDEN = 400, 403
_CHUNK = 50
"""Completions that are recorded together."""

_FIRST_PAUSE, _LONGEST_PAUSE = 1.0, 15.0

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Tools:
    """What all followers share."""

    api: Api
    recorder: Recorder
    metrics: TriggerMetrics
    settings: TriggerSettings
    relist_seconds: float


class Follower:
    """Works for one trigger until it is gone, or this is cancelled; survives everything else."""

    def __init__(self, tools: Tools, subject: Subject) -> None:
        self._tools = tools
        self._record = Record(tools.api, tools.recorder, subject)
        self._creation = Creation(tools.api, tools.metrics, self._record)
        self._changed = asyncio.Event()
        self._waiting: dict[str, Candidate] = {}
        self._stream: Stream | None = None
        self._generation: int | None = None
        self._pause = _FIRST_PAUSE

    def change(self) -> None:
        """Make it read the trigger again; what is under way is brought to an end first."""
        self._changed.set()

    async def run(self) -> None:
        """Work until the trigger is gone."""
        name = self._record.subject.name
        while True:
            self._changed.clear()
            patience: float | None = self._pause
            try:
                if not await self._round():
                    return
                continue
            except NotReadyError as error:
                told = await self._try_to_tell(error.readiness)
                patience = None if error.lasting and told else self._pause
            except ApiError as error:
                log.warning("trigger %s: %s; again in %.0f s", name, error, self._pause)
            except Exception:
                log.exception("defect in trigger %s; again in %.0f s", name, self._pause)
            await self._wait(patience)
            self._pause = min(_LONGEST_PAUSE, 2 * self._pause)

    async def _round(self) -> bool:
        """Work until the trigger changes; return False if it is gone."""
        if not await self._record.load():
            return False
        changed = self._record.generation != self._generation
        self._generation = self._record.generation
        trigger = self._record.parsed()
        if changed:
            self._pause = _FIRST_PAUSE
        still = (c for c in self._waiting.values() if is_wanted(trigger, self._record.status, c))
        self._waiting = {found.key: found for found in still}
        judged = ready.judged(trigger, self._tools.settings)
        if isinstance(judged, Readiness):
            raise NotReadyError(judged, lasting=True)
        await self._follow(trigger, judged)
        return True

    async def _follow(self, trigger: ModelExportTrigger, kind: WatchedKind) -> None:
        """Deal with what a stream shows, until the trigger changes."""
        what = Collection(
            root=kind.root,
            resource=kind.resource,
            namespace=self._record.subject.namespace,
            selector=selection.label_selector(trigger.spec.source),
            api_version=kind.api_version,
            kind=kind.kind,
        )
        if self._stream is None or self._stream.what != what:
            self._stream = Stream(self._tools.api, what, self._tools.relist_seconds)
        async with aclosing(self._stream.follow()) as batches:
            while not self._changed.is_set():
                batch = await self._next(batches, what)
                if batch is None:
                    return
                self._collect(trigger, batch)
                if batch.listed and not batch.complete:
                    continue
                await self._deal(trigger)
                if batch.complete:
                    self._pause = _FIRST_PAUSE
                    message = f"watching {what.resource} of {what.api_version}"
                    watching = Readiness("True", ready.WATCHING, message)
                    await self._record.tell(watching, self._generation)

    async def _next(self, batches: AsyncIterator[Seen], what: Collection) -> Seen | None:
        """Return what a stream shows next; None as soon as the trigger has changed."""
        step = asyncio.ensure_future(anext(batches))
        changed = asyncio.ensure_future(self._changed.wait())
        try:
            await asyncio.wait({step, changed}, return_when=asyncio.FIRST_COMPLETED)
            return step.result() if step.done() else None
        except ApiError as error:
            raise _not_watchable(error, what) from None
        finally:
            changed.cancel()
            step.cancel()
            with suppress(asyncio.CancelledError, ApiError):
                await step

    def _collect(self, trigger: ModelExportTrigger, batch: Seen) -> None:
        for body in batch.objects:
            try:
                found = candidate(trigger, self._record.status, body)
            except Exception:  # one odd object must not keep the others out
                log.exception("object %s not taken in", body["metadata"].get("name"))
                continue
            if found is not None:
                self._waiting[found.key] = found

    async def _deal(self, trigger: ModelExportTrigger) -> None:
        """Deal with what waits, the oldest completion first; record some at a time."""
        while self._waiting and not self._changed.is_set():
            oldest = sorted(self._waiting.values(), key=lambda found: found.entry)[:_CHUNK]
            outcomes: list[Outcome] = []
            try:
                for found in oldest:
                    outcomes.append(await self._creation.of(trigger, found))  # noqa: PERF401
            finally:
                await self._record.note(outcomes)
                for found in oldest[: len(outcomes)]:
                    del self._waiting[found.key]

    async def _try_to_tell(self, readiness: Readiness) -> bool:
        try:
            await self._record.tell(readiness, self._generation)
        except ApiError as error:
            log.warning("status of trigger %s: %s", self._record.subject.name, error)
            return False
        return True

    async def _wait(self, seconds: float | None) -> None:
        jittered = None if seconds is None else seconds * random.uniform(0.8, 1.2)  # noqa: S311
        with suppress(TimeoutError):
            async with asyncio.timeout(jittered):
                await self._changed.wait()


def _not_watchable(error: ApiError, what: Collection) -> Exception:
    """Let people know of what cannot be watched: a missing kind, no right, a wrong selector."""
    name = f"{what.resource} of {what.api_version}"
    if error.status == NOT_FOUND:
        message = f"the cluster has no {name}; watching begins when they are installed"
        return NotReadyError(Readiness("False", ready.KIND_NOT_INSTALLED, message), lasting=False)
    if error.status == _FORBIDDEN:
        message = f"the operator may not watch {name}: {error.message}"
        return NotReadyError(Readiness("False", ready.FORBIDDEN, message), lasting=False)
    if error.status == _BAD_REQUEST:
        message = f"spec.source.selector: {error.message}"
        return NotReadyError(Readiness("False", ready.SELECTOR_INVALID, message), lasting=True)
    return error
