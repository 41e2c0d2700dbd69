"""All triggers: a follower for each, and the history limits."""

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
from modelexport_operator.resync import take
from modelexport_operator.triggers import labels, ready
from modelexport_operator.triggers.follower import Follower, Tools
from modelexport_operator.triggers.keeper import Keeper
from modelexport_operator.triggers.record import Subject
from modelexport_operator.triggers.stream import Collection, Stream

_PAUSE = 5.0

log = logging.getLogger(__name__)
Body = dict[str, Any]


class Triggers:
    """The part of the operator that works for triggers."""

    def __init__(self, tools: Tools, namespaces: list[str]) -> None:
        self._tools = tools
        self._namespaces: list[str | None] = [*namespaces] or [None]
        self._keeper = Keeper(tools.api)
        self._followers: dict[str, tuple[Follower, asyncio.Task[None]]] = {}
        self._generations: dict[str, int] = {}
        self._reasons: dict[str, str] = {}
        tools.metrics.read_live(lambda: Counter(self._reasons.values()))

    async def run(self) -> None:
        """Work until cancelled."""
        try:
            async with asyncio.TaskGroup() as group:
                for namespace in self._namespaces:
                    group.create_task(self._watch_triggers(namespace))
                    group.create_task(self._watch_children(namespace))
                group.create_task(self._keeper.work())
        finally:
            for uid in list(self._followers):
                self._end(uid)

    async def _watch_triggers(self, namespace: str | None) -> None:
        what = Collection(EXPORTS, TRIGGER_PLURAL, namespace)
        await self._watch(what, self._put_trigger, self._drop_trigger)

    async def _watch_children(self, namespace: str | None) -> None:
        what = Collection(EXPORTS, PLURAL, namespace, selector=labels.TRIGGER_UID_LABEL)
        await self._watch(what, self._keeper.put_child, self._keeper.drop_child)

    async def _watch(
        self, what: Collection, put: Callable[[Body], None], drop: Callable[[str], None]
    ) -> None:
        """Keep what is known of a collection, whatever happens to the watch on it."""
        known: set[str] = set()
        told = ""
        while True:
            listed: set[str] = set()
            try:
                stream = Stream(self._tools.api, what, self._tools.relist_seconds)
                async with aclosing(stream.follow()) as batches:
                    async for seen in batches:
                        uids = {body["metadata"]["uid"] for body in seen.objects}
                        for body in seen.objects if not seen.gone else ():
                            take(put, body)
                        vanished = uids if seen.gone else set()
                        known |= uids
                        listed = listed | uids if seen.listed else listed
                        if seen.complete:
                            vanished, listed = known - listed, set()
                        for uid in vanished:
                            drop(uid)
                        known -= vanished
            except ApiError as error:
                level = logging.DEBUG if str(error) == told else logging.WARNING
                log.log(level, "%s of %s are not watched: %s", what.resource, API_VERSION, error)
                told = str(error)
            await asyncio.sleep(_PAUSE)

    def _put_trigger(self, body: Body) -> None:
        meta = body["metadata"]
        uid, generation = meta["uid"], meta.get("generation", 0)
        conditions = (body.get("status") or {}).get("conditions") or []
        found = [entry["reason"] for entry in conditions if entry["type"] == ready.READY]
        self._reasons[uid] = found[0] if found else "Unknown"
        self._keeper.put_trigger(body)
        if uid not in self._followers:
            subject = Subject(uid, meta["name"], meta["namespace"])
            follower = Follower(self._tools, subject)
            task = asyncio.create_task(follower.run(), name=f"trigger {meta['name']}")
            self._followers[uid] = follower, task
        elif generation != self._generations.get(uid):
            self._followers[uid][0].change()
        self._generations[uid] = generation

    def _drop_trigger(self, uid: str) -> None:
        self._keeper.drop_trigger(uid)
        self._reasons.pop(uid, None)
        self._generations.pop(uid, None)
        self._end(uid)

    def _end(self, uid: str) -> None:
        _, task = self._followers.pop(uid, (None, None))
        if task is not None:
            task.cancel()
