"""Apply history limits: delete the oldest finished ModelExports of triggers."""

from __future__ import annotations

import logging
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from modelexport_api.trigger import HistoryLimits, ModelExportTriggerStatus
from modelexport_operator.client import Api
from modelexport_operator.queue import WorkQueue
from modelexport_operator.transport import NOT_FOUND, ApiError
from modelexport_operator.triggers.history import Child, observe_child, surplus

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class _Owner:
    limits: HistoryLimits
    status: ModelExportTriggerStatus


class HistoryPruner:
    """Deletes finished ModelExports above the history limits of their triggers."""

    def __init__(self, api: Api) -> None:
        self._api = api
        self._queue = WorkQueue(time.monotonic)
        self._owners: dict[str, _Owner] = {}
        self._children: dict[str, dict[str, Child]] = {}
        self._owner_of: dict[str, str] = {}

    def put_trigger(self, body: Mapping[str, Any]) -> None:
        """Store a trigger."""
        uid = body["metadata"]["uid"]
        self._owners[uid] = _Owner(
            HistoryLimits.model_validate(body["spec"].get("historyLimits") or {}),
            ModelExportTriggerStatus.model_validate(body.get("status") or {}),
        )
        self._queue.add(uid)

    def drop_trigger(self, uid: str) -> None:
        """Remove a deleted trigger; Kubernetes deletes its ModelExports."""
        self._owners.pop(uid, None)

    def put_child(self, body: Mapping[str, Any]) -> None:
        """Store a ModelExport."""
        found = observe_child(body)
        if found is None:
            return
        owner, child = found
        self._children.setdefault(owner, {})[child.uid] = child
        self._owner_of[child.uid] = owner
        self._queue.add(owner)

    def drop_child(self, uid: str) -> None:
        """Remove a deleted ModelExport."""
        owner = self._owner_of.pop(uid, "")
        children = self._children.get(owner, {})
        children.pop(uid, None)
        if not children:
            self._children.pop(owner, None)

    async def work(self) -> None:
        """Apply the limits until cancelled."""
        while True:
            uid = await self._queue.take()
            try:
                await self._apply(uid)
                self._queue.forget_failures(uid)
            except ApiError as error:
                pause = self._queue.add_failed(uid)
                about = {"fields": {"uid": uid, "reason": error.reason}}
                text = "failed to apply history limits: %s, retrying in %.1f s"
                log.warning(text, error, pause, extra=about)
            finally:
                self._queue.done(uid)

    async def _apply(self, uid: str) -> None:
        owner = self._owners.get(uid)
        if owner is None:
            return
        children = list(self._children.get(uid, {}).values())
        for child in surplus(children, owner.limits, owner.status):
            try:
                await self._api.delete_export(child.namespace, child.name, {"uid": child.uid})
            except ApiError as error:
                if error.status != NOT_FOUND:
                    raise
            self.drop_child(child.uid)
