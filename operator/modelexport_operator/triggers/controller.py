"""All triggers: one follower for each, and the history limits."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Mapping
from typing import Any

from modelexport_operator.triggers import labels, ready
from modelexport_operator.triggers.follower import Dependencies, Follower
from modelexport_operator.triggers.history_pruner import HistoryPruner
from modelexport_operator.triggers.trigger_client import Subject


class Triggers:
    """The part of the operator that handles triggers."""

    def __init__(self, dependencies: Dependencies) -> None:
        self._dependencies = dependencies
        self._pruner = HistoryPruner(dependencies.api)
        self._followers: dict[str, tuple[Follower, asyncio.Task[None]]] = {}
        self._generations: dict[str, int] = {}
        self._reasons: dict[str, str] = {}
        dependencies.metrics.read_live(lambda: Counter(self._reasons.values()))

    async def run(self) -> None:
        """Run until cancelled."""
        try:
            await self._pruner.work()
        finally:
            for uid in list(self._followers):
                self._end(uid)

    def put_child(self, body: Mapping[str, Any]) -> None:
        """Store a ModelExport that a trigger created; others are ignored."""
        if labels.TRIGGER_UID_LABEL in (body["metadata"].get("labels") or {}):
            self._pruner.put_child(body)

    def drop_child(self, uid: str) -> None:
        """Remove a deleted ModelExport."""
        self._pruner.drop_child(uid)

    def put_trigger(self, body: Mapping[str, Any]) -> None:
        """Store a trigger, and start its follower."""
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
            # A follower ends when it finds its trigger deleted, also if no watch reported it.
            task.add_done_callback(lambda _: self.drop_trigger(uid))
            self._followers[uid] = follower, task
        elif generation != self._generations.get(uid):
            self._followers[uid][0].reload()
        self._generations[uid] = generation

    def drop_trigger(self, uid: str) -> None:
        """Remove a deleted trigger, and end its follower."""
        self._pruner.drop_trigger(uid)
        self._reasons.pop(uid, None)
        self._generations.pop(uid, None)
        self._end(uid)

    def _end(self, uid: str) -> None:
        _, task = self._followers.pop(uid, (None, None))
        if task is not None:
            task.cancel()
