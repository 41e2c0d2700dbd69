"""One trigger: watch the objects that it selects, and process each completion.

Level-based: a round starts with the current trigger and a list of the objects, and may stop at any
point. A ModelExport is created first and then recorded in the status; until then, its name makes a
second creation a conflict.
"""

from __future__ import annotations

import asyncio
import logging
import random
from collections.abc import AsyncIterator
from contextlib import aclosing, suppress
from dataclasses import dataclass

from modelexport_api.trigger import TRIGGER_KIND
from modelexport_api.trigger_resource import ModelExportTrigger
from modelexport_operator import logs
from modelexport_operator.client import Api
from modelexport_operator.events import EventRecorder
from modelexport_operator.stream import Collection, Stream, StreamUpdate
from modelexport_operator.transport import NOT_FOUND, ApiError
from modelexport_operator.triggers import ready, selection
from modelexport_operator.triggers.candidates import Candidate, candidate, is_wanted
from modelexport_operator.triggers.creation import ExportCreator
from modelexport_operator.triggers.kinds import TriggerSettings, WatchedKind
from modelexport_operator.triggers.metrics import TriggerMetrics
from modelexport_operator.triggers.outcome import Outcome
from modelexport_operator.triggers.ready import Readiness
from modelexport_operator.triggers.trigger_client import NotReadyError, Subject, TriggerClient

_BAD_REQUEST, _FORBIDDEN = 400, 403
_CHUNK = 50
"""Number of completions that are recorded in one write."""

_FIRST_PAUSE, _LONGEST_PAUSE = 1.0, 15.0

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Dependencies:
    """The objects that all followers share."""

    api: Api
    recorder: EventRecorder
    metrics: TriggerMetrics
    settings: TriggerSettings
    relist_seconds: float


class Follower:
    """Runs one trigger until it is deleted; retries after any error."""

    def __init__(self, dependencies: Dependencies, subject: Subject) -> None:
        self._dependencies = dependencies
        self._trigger = TriggerClient(dependencies.api, dependencies.recorder, subject)
        self._creator = ExportCreator(dependencies.api, dependencies.metrics, self._trigger)
        self._changed = asyncio.Event()
        self._waiting: dict[str, Candidate] = {}
        self._stream: Stream | None = None
        self._generation: int | None = None
        self._pause = _FIRST_PAUSE

    def reload(self) -> None:
        """Read the trigger again after the current step."""
        self._changed.set()

    async def run(self) -> None:
        """Run until the trigger is deleted."""
        about = logs.about(self._trigger.subject, kind=TRIGGER_KIND)
        while True:
            self._changed.clear()
            pause = self._pause
            try:
                if not await self._round():
                    return
                continue
            except NotReadyError as error:
                written = await self._try_write_readiness(error.readiness)
                settled = error.permanent and written
                pause = self._dependencies.relist_seconds if settled else self._pause
            except ApiError as error:
                log.warning("%s, retrying in %.0f s", error, self._pause, extra=about)
            except Exception:
                log.exception("unexpected error, retrying in %.0f s", self._pause, extra=about)
            await self._wait(pause)
            self._pause = min(_LONGEST_PAUSE, 2 * self._pause)

    async def _round(self) -> bool:
        """Run until the trigger changes; return False if it was deleted."""
        if not await self._trigger.load():
            return False
        changed = self._trigger.generation != self._generation
        self._generation = self._trigger.generation
        trigger = self._trigger.parse()
        if changed:
            self._pause = _FIRST_PAUSE
        still = (c for c in self._waiting.values() if is_wanted(trigger, self._trigger.status, c))
        self._waiting = {found.key: found for found in still}
        kind = ready.resolve_kind(trigger, self._dependencies.settings)
        if isinstance(kind, Readiness):
            raise NotReadyError(kind, permanent=True)
        await self._follow(trigger, kind)
        return True

    async def _follow(self, trigger: ModelExportTrigger, kind: WatchedKind) -> None:
        """Process the objects of a stream until the trigger changes."""
        what = Collection(
            root=kind.root,
            resource=kind.resource,
            namespace=self._trigger.subject.namespace,
            selector=selection.label_selector(trigger.spec.source),
            api_version=kind.api_version,
            kind=kind.kind,
        )
        if self._stream is None or self._stream.what != what:
            self._stream = Stream(self._dependencies.api, what, self._dependencies.relist_seconds)
        async with aclosing(self._stream.follow()) as updates:
            while not self._changed.is_set():
                update = await self._next(updates, what)
                if update is None:
                    return
                self._collect(trigger, update)
                if update.listed and not update.complete:
                    continue
                await self._process(trigger)
                if update.complete:
                    if await self._is_outdated():
                        return
                    self._pause = _FIRST_PAUSE
                    message = f"watching {what.resource} of {what.api_version}"
                    watching = Readiness("True", ready.WATCHING, message)
                    await self._trigger.write_readiness(watching, self._generation)

    async def _is_outdated(self) -> bool:
        """Read the trigger after each list, because a watch can miss its change or deletion."""
        return not await self._trigger.load() or self._trigger.generation != self._generation

    async def _next(
        self, updates: AsyncIterator[StreamUpdate], what: Collection
    ) -> StreamUpdate | None:
        """Return the next update of a stream; None as soon as the trigger has changed."""
        step = asyncio.ensure_future(anext(updates))
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

    def _collect(self, trigger: ModelExportTrigger, update: StreamUpdate) -> None:
        for body in update.objects:
            try:
                found = candidate(trigger, self._trigger.status, body)
            except Exception:  # an invalid object must not block the others
                about = logs.about(self._trigger.subject, kind=TRIGGER_KIND)
                log.exception("failed to read %s", body["metadata"].get("name"), extra=about)
                continue
            if found is not None:
                self._waiting[found.key] = found

    async def _process(self, trigger: ModelExportTrigger) -> None:
        """Process the waiting completions, oldest first; record them in chunks."""
        while self._waiting and not self._changed.is_set():
            oldest = sorted(self._waiting.values(), key=lambda found: found.entry)[:_CHUNK]
            outcomes: list[Outcome] = []
            try:
                for found in oldest:
                    outcomes.append(await self._creator.create(trigger, found))  # noqa: PERF401
            finally:
                await self._trigger.write_outcomes(outcomes)
                for found in oldest[: len(outcomes)]:
                    del self._waiting[found.key]

    async def _try_write_readiness(self, readiness: Readiness) -> bool:
        try:
            await self._trigger.write_readiness(readiness, self._generation)
        except ApiError as error:
            about = logs.about(self._trigger.subject, kind=TRIGGER_KIND)
            log.warning("failed to write status: %s", error, extra=about)
            return False
        return True

    async def _wait(self, seconds: float) -> None:
        jittered = seconds * random.uniform(0.8, 1.2)  # noqa: S311
        with suppress(TimeoutError):
            async with asyncio.timeout(jittered):
                await self._changed.wait()


def _not_watchable(error: ApiError, what: Collection) -> Exception:
    """Convert the error of a watch: a missing kind or permission, or an invalid selector."""
    name = f"{what.resource} of {what.api_version}"
    if error.status == NOT_FOUND:
        message = f"the cluster has no {name}; the watch starts when they are installed"
        return NotReadyError(Readiness("False", ready.KIND_NOT_INSTALLED, message), permanent=False)
    if error.status == _FORBIDDEN:
        message = f"the operator has no permission to watch {name}: {error.message}"
        return NotReadyError(Readiness("False", ready.FORBIDDEN, message), permanent=False)
    if error.status == _BAD_REQUEST:
        message = f"spec.source.selector: {error.message}"
        return NotReadyError(Readiness("False", ready.SELECTOR_INVALID, message), permanent=True)
    return error
