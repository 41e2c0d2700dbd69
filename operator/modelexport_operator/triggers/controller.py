"""All triggers: one follower for each, and the history limits."""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import Callable
from contextlib import aclosing
from typing import Any

from modelexport_api import API_VERSION, PLURAL
from modelexport_api.trigger import TRIGGER_PLURAL
from modelexport_operator.client import EXPORTS, ApiError
from modelexport_operator.resync import store
from modelexport_operator.triggers import labels, ready
from modelexport_operator.triggers.follower import Dependencies, Follower
from modelexport_operator.triggers.history_pruner import HistoryPruner
from modelexport_operator.triggers.stream import Collection, Stream
from modelexport_operator.triggers.trigger_client import Subject

_PAUSE = 5.0

log = logging.getLogger(__name__)
Body = dict[str, Any]


class Triggers:
    """The part of the operator that handles triggers."""

    def __init__(self, dependencies: Dependencies, namespaces: list[str]) -> None:
        self._dependencies = dependencies
        self._namespaces: list[str | None] = [*namespaces] or [None]
        self._pruner = HistoryPruner(dependencies.api)
        self._followers: dict[str, tuple[Follower, asyncio.Task[None]]] = {}
        self._generations: dict[str, int] = {}
        self._reasons: dict[str, str] = {}
        dependencies.metrics.read_live(lambda: Counter(self._reasons.values()))

    async def run(self) -> None:
        """Run until cancelled."""
        try:
            async with asyncio.TaskGroup() as group:
                for namespace in self._namespaces:
                    group.create_task(self._watch_triggers(namespace))
                    group.create_task(self._watch_children(namespace))
                group.create_task(self._pruner.work())
        finally:
            for uid in list(self._followers):
                self._end(uid)

    async def _watch_triggers(self, namespace: str | None) -> None:
        what = Collection(EXPORTS, TRIGGER_PLURAL, namespace)
        await self._watch(what, self._put_trigger, self._drop_trigger)

    async def _watch_children(self, namespace: str | None) -> None:
        what = Collection(EXPORTS, PLURAL, namespace, selector=labels.TRIGGER_UID_LABEL)
        await self._watch(what, self._pruner.put_child, self._pruner.drop_child)

    async def _watch(
        self, what: Collection, put: Callable[[Body], None], drop: Callable[[str], None]
    ) -> None:
        """Pass the changes of a collection to `put` and `drop`; retry the watch after errors."""
        known: set[str] = set()
        last_error = ""
        while True:
            listed: set[str] = set()
            try:
                stream = Stream(self._dependencies.api, what, self._dependencies.relist_seconds)
                async with aclosing(stream.follow()) as updates:
                    async for update in updates:
                        uids = {body["metadata"]["uid"] for body in update.objects}
                        for body in update.objects if not update.deleted else ():
                            store(put, body)
                        deleted = uids if update.deleted else set()
                        known |= uids
                        listed = listed | uids if update.listed else listed
                        if update.complete:
                            deleted, listed = known - listed, set()
                        for uid in deleted:
                            drop(uid)
                        known -= deleted
            except ApiError as error:
                level = logging.DEBUG if str(error) == last_error else logging.WARNING
                log.log(level, "failed to watch %s of %s: %s", what.resource, API_VERSION, error)
                last_error = str(error)
            await asyncio.sleep(_PAUSE)

    def _put_trigger(self, body: Body) -> None:
        meta = body["metadata"]
        uid, generation = meta["uid"], meta.get("generation", 0)
        conditions = (body.get("status") or {}).get("conditions") or []
        found = [entry["reason"] for entry in conditions if entry["type"] == ready.READY]
        self._reasons[uid] = found[0] if found else "Unknown"
        self._pruner.put_trigger(body)
        if uid not in self._followers:
            subject = Subject(uid, meta["name"], meta["namespace"])
            follower = Follower(self._dependencies, subject)
            task = asyncio.create_task(follower.run(), name=f"trigger {meta['name']}")
            self._followers[uid] = follower, task
        elif generation != self._generations.get(uid):
            self._followers[uid][0].reload()
        self._generations[uid] = generation

    def _drop_trigger(self, uid: str) -> None:
        self._pruner.drop_trigger(uid)
        self._reasons.pop(uid, None)
        self._generations.pop(uid, None)
        self._end(uid)

    def _end(self, uid: str) -> None:
        _, task = self._followers.pop(uid, (None, None))
        if task is not None:
            task.cancel()
