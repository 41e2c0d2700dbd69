"""One completion becomes a ModelExport, or is skipped with an Event that says why."""

from __future__ import annotations

from modelexport_api.trigger_resource import ModelExportTrigger
from modelexport_operator import actions
from modelexport_operator.client import Api, ApiError
from modelexport_operator.decisions import Event
from modelexport_operator.triggers import calls, ready
from modelexport_operator.triggers.candidates import Candidate
from modelexport_operator.triggers.child import INVALID_EXPORT, ChildError, build, described
from modelexport_operator.triggers.metrics import TriggerMetrics
from modelexport_operator.triggers.outcome import Outcome
from modelexport_operator.triggers.ready import Readiness
from modelexport_operator.triggers.record import NotReadyError, Record

NAME_TAKEN = "NameTaken"
_FORBIDDEN = 403


class Creation:
    """Creates the ModelExports of one trigger. May be repeated for a completion at any time."""

    def __init__(self, api: Api, metrics: TriggerMetrics, record: Record) -> None:
        self._api = api
        self._metrics = metrics
        self._record = record

    async def of(self, trigger: ModelExportTrigger, found: Candidate) -> Outcome:
        """Deal with a completion. Raises NotReadyError or ApiError when it has to wait."""
        body = found.body
        about = described(body)
        try:
            manifest = build(trigger, body, found.success)
        except ChildError as error:
            return await self._skip(found, error.reason, str(error))
        namespace, name = manifest["metadata"]["namespace"], manifest["metadata"]["name"]
        try:
            new = await calls.create_export(self._api, manifest)
            owner = None if new else await calls.owner_of(self._api, namespace, name)
        except ApiError as error:
            if actions.is_final(error):
                message = f"{about}: the API server refuses the ModelExport: {error.message}"
                return await self._skip(found, INVALID_EXPORT, message)
            raise _told(error) from None
        if not new and owner != self._record.subject.uid:
            message = f"{about}: a ModelExport {name} exists and belongs to somebody else"
            return await self._skip(found, NAME_TAKEN, message)
        message = f"{about} has completed: created ModelExport {name}"
        await self._record.event(Event("Normal", "Triggered", message, found.entry))
        if new:
            self._metrics.triggered.labels(trigger.spec.source.kind).inc()
        return Outcome(found.entry, "triggered")

    async def _skip(self, found: Candidate, reason: str, message: str) -> Outcome:
        await self._record.event(Event("Warning", reason, message, found.entry))
        self._metrics.skipped.labels(reason).inc()
        return Outcome(found.entry, "skipped")


def _told(error: ApiError) -> Exception:
    """Let people know of a refusal that ends when rights or a quota are put right."""
    if error.status != _FORBIDDEN:
        return error
    message = f"ModelExports cannot be created, and are created later: {error.message}"
    return NotReadyError(Readiness("False", ready.CREATION_REFUSED, message), lasting=False)
