"""Create the ModelExport for a completion, or skip it with an Event that explains why."""

from __future__ import annotations

from modelexport_api.trigger_resource import ModelExportTrigger
from modelexport_operator import actions
from modelexport_operator.client import Api
from modelexport_operator.decisions import Event
from modelexport_operator.transport import ApiError
from modelexport_operator.triggers import calls, ready
from modelexport_operator.triggers.candidates import Candidate
from modelexport_operator.triggers.child import INVALID_EXPORT, ChildError, build, describe_object
from modelexport_operator.triggers.metrics import TriggerMetrics
from modelexport_operator.triggers.outcome import Outcome
from modelexport_operator.triggers.ready import Readiness
from modelexport_operator.triggers.trigger_client import NotReadyError, TriggerClient

NAME_TAKEN = "NameTaken"
_FORBIDDEN = 403


class ExportCreator:
    """Creates the ModelExports of one trigger. Idempotent for each completion."""

    def __init__(self, api: Api, metrics: TriggerMetrics, trigger_client: TriggerClient) -> None:
        self._api = api
        self._metrics = metrics
        self._trigger_client = trigger_client

    async def create(self, trigger: ModelExportTrigger, found: Candidate) -> Outcome:
        """Process a completion. Raises NotReadyError or ApiError if it must be retried."""
        body = found.body
        subject = describe_object(body)
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
                message = f"{subject}: the API server rejected the ModelExport: {error.message}"
                return await self._skip(found, INVALID_EXPORT, message)
            raise _as_not_ready(error) from None
        if not new and owner != self._trigger_client.subject.uid:
            message = f"{subject}: ModelExport {name} already exists and has another owner"
            return await self._skip(found, NAME_TAKEN, message)
        message = f"{subject} completed: created ModelExport {name}"
        await self._trigger_client.record_event(Event("Normal", "Triggered", message, found.entry))
        if new:
            self._metrics.triggered.labels(trigger.spec.source.kind).inc()
        return Outcome(found.entry, "triggered")

    async def _skip(self, found: Candidate, reason: str, message: str) -> Outcome:
        await self._trigger_client.record_event(Event("Warning", reason, message, found.entry))
        self._metrics.skipped.labels(reason).inc()
        return Outcome(found.entry, "skipped")


def _as_not_ready(error: ApiError) -> Exception:
    """Convert a rejection for a missing permission or quota: creation is retried."""
    if error.status != _FORBIDDEN:
        return error
    message = f"failed to create a ModelExport, will be retried: {error.message}"
    return NotReadyError(Readiness("False", ready.CREATION_REFUSED, message), permanent=False)
