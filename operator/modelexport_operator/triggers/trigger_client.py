"""The client for one trigger: reads it, and is the only writer of its status."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from modelexport_api.resource import ManifestError
from modelexport_api.trigger import TRIGGER_KIND, ModelExportTriggerStatus
from modelexport_api.trigger_resource import ModelExportTrigger, parse_trigger
from modelexport_operator import clock
from modelexport_operator.client import Api
from modelexport_operator.decisions import Event
from modelexport_operator.events import EventRecorder
from modelexport_operator.transport import CONFLICT, ApiError
from modelexport_operator.triggers import calls, ready
from modelexport_operator.triggers.outcome import Outcome, add_outcomes
from modelexport_operator.triggers.ready import Readiness

_CONFLICTS = 10

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Subject:
    """A trigger as the subject of Events."""

    uid: str
    name: str
    namespace: str


class NotReadyError(Exception):
    """The trigger cannot work; `permanent`: until its spec changes."""

    def __init__(self, readiness: Readiness, *, permanent: bool) -> None:
        super().__init__(readiness.message)
        self.readiness = readiness
        self.permanent = permanent


class TriggerClient:
    """One trigger and its status; call `load` first."""

    def __init__(self, api: Api, recorder: EventRecorder, subject: Subject) -> None:
        self._api = api
        self._recorder = recorder
        self._body: dict[str, Any] = {}
        self.subject = subject
        self.status = ModelExportTriggerStatus()

    @property
    def generation(self) -> int | None:
        """Return the generation of the last spec that was read."""
        found: int | None = self._body["metadata"].get("generation")
        return found

    async def load(self) -> bool:
        """Read the trigger; return False if it was deleted, or is being deleted."""
        me = self.subject
        body = await calls.read_trigger(self._api, me.namespace, me.name, me.uid)
        if body is None or "deletionTimestamp" in body["metadata"]:
            return False
        self._update(body)
        return True

    def parse(self) -> ModelExportTrigger:
        """Parse the trigger. Raises NotReadyError."""
        try:
            return parse_trigger(self._body)
        except ManifestError as error:
            lines = "; ".join(str(error).splitlines())
            why = Readiness("False", ready.TEMPLATE_INVALID, lines)
            raise NotReadyError(why, permanent=True) from None

    async def write_outcomes(self, outcomes: list[Outcome]) -> None:
        """Add the outcomes of completions to the status."""
        if outcomes:
            await self._write(lambda status: add_outcomes(status, outcomes, clock.now()))

    async def write_readiness(self, readiness: Readiness, generation: int | None) -> None:
        """Write the condition if it changed; create an Event if a person must act."""
        if ready.with_readiness(self.status, readiness, generation, clock.now()) == self.status:
            return
        if readiness.needs_action:
            key = f"{generation}/{readiness.message}"
            event = Event("Warning", readiness.reason, readiness.message, key)
            await self.record_event(event)
        await self._write(lambda s: ready.with_readiness(s, readiness, generation, clock.now()))

    async def record_event(self, event: Event) -> None:
        """Create an Event on the trigger, once."""
        await self._recorder.record(self.subject, (event,), TRIGGER_KIND)

    async def _write(
        self, change: Callable[[ModelExportTriggerStatus], ModelExportTriggerStatus]
    ) -> None:
        """Write a changed status; after a conflict, read the trigger and change it again."""
        for _ in range(_CONFLICTS):
            wire = change(self.status).to_wire()
            try:
                self._update(await calls.write_status(self._api, self._body, wire))
            except ApiError as error:
                if error.status == CONFLICT and await self.load():
                    continue
                raise
            return
        raise ApiError(CONFLICT, "Conflict", f"the trigger changed during {_CONFLICTS} attempts")

    def _update(self, body: dict[str, Any]) -> None:
        self._body = body
        self.status = ModelExportTriggerStatus.model_validate(body.get("status") or {})
