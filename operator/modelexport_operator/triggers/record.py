"""A trigger as the API server has it, and the only writer of its status."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from modelexport_api.resource import ManifestError
from modelexport_api.trigger import TRIGGER_KIND, ModelExportTriggerStatus
from modelexport_api.trigger_resource import ModelExportTrigger, parse_trigger
from modelexport_operator import clock
from modelexport_operator.client import CONFLICT, Api, ApiError
from modelexport_operator.decisions import Event
from modelexport_operator.events import Recorder
from modelexport_operator.triggers import calls, ready
from modelexport_operator.triggers.outcome import Outcome, recorded
from modelexport_operator.triggers.ready import Readiness

_CONFLICTS = 10

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Subject:
    """A trigger, as Events name it."""

    uid: str
    name: str
    namespace: str


class NotReadyError(Exception):
    """The trigger cannot work; `lasting`: nothing but its change can help."""

    def __init__(self, readiness: Readiness, *, lasting: bool) -> None:
        super().__init__(readiness.message)
        self.readiness = readiness
        self.lasting = lasting


class Record:
    """The trigger and its status; `load` it first."""

    def __init__(self, api: Api, recorder: Recorder, subject: Subject) -> None:
        self._api = api
        self._recorder = recorder
        self._body: dict[str, Any] = {}
        self.subject = subject
        self.status = ModelExportTriggerStatus()

    @property
    def generation(self) -> int | None:
        """Return the generation of the spec as it was read last."""
        found: int | None = self._body["metadata"].get("generation")
        return found

    async def load(self) -> bool:
        """Read the trigger; return False if it is gone, or going."""
        me = self.subject
        body = await calls.read_trigger(self._api, me.namespace, me.name, me.uid)
        if body is None or "deletionTimestamp" in body["metadata"]:
            return False
        self._take(body)
        return True

    def parsed(self) -> ModelExportTrigger:
        """Return the trigger. Raises NotReadyError."""
        try:
            return parse_trigger(self._body)
        except ManifestError as error:
            lines = "; ".join(str(error).splitlines())
            why = Readiness("False", ready.TEMPLATE_INVALID, lines)
            raise NotReadyError(why, lasting=True) from None

    async def note(self, outcomes: list[Outcome]) -> None:
        """Write down what became of completions."""
        if outcomes:
            await self._write(lambda status: recorded(status, outcomes, clock.now()))

    async def tell(self, readiness: Readiness, generation: int | None) -> None:
        """Write the condition if it says anything new; an Event tells of trouble once."""
        before = next((c for c in self.status.conditions if c.type == ready.READY), None)
        now = (readiness.status, readiness.reason, readiness.message, generation)
        if before is not None:
            told = (before.status, before.reason, before.message, before.observed_generation)
            if told == now:
                return
        if readiness.is_trouble:
            about = f"{generation}/{readiness.message}"
            await self.event(Event("Warning", readiness.reason, readiness.message, about))
        await self._write(lambda s: ready.with_readiness(s, readiness, generation, clock.now()))

    async def event(self, event: Event) -> None:
        """Tell an Event about the trigger, once."""
        await self._recorder.tell(self.subject, (event,), TRIGGER_KIND)

    async def _write(
        self, change: Callable[[ModelExportTriggerStatus], ModelExportTriggerStatus]
    ) -> None:
        """Write a changed status on the trigger as it is now, whoever changed it meanwhile."""
        for _ in range(_CONFLICTS):
            wire = change(self.status).to_wire()
            try:
                self._take(await calls.write_status(self._api, self._body, wire))
            except ApiError as error:
                if error.status == CONFLICT and await self.load():
                    continue
                raise
            return
        raise ApiError(CONFLICT, "Conflict", "the trigger changes all the time")

    def _take(self, body: dict[str, Any]) -> None:
        self._body = body
        self.status = ModelExportTriggerStatus.model_validate(body.get("status") or {})
