"""What running pods say about their progress: read from their logs, written into the status.

A periodic read of the last lines instead of a stream: a thousand streams are a thousand
connections through the API server, and a stream that hangs looks like a pod that is silent. The
reads share a budget (`api.logQps`); with more pods each is read more rarely, and of a batch only
a few pods in each turn, so that one with 256 pods takes nothing from the others. Progress has a
field manager of its own and never takes `progress` and `items` from the one that writes the end.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Protocol

from modelexport_api.items import Items, ShareCounts
from modelexport_api.pod import CONTAINER, parse_log_line
from modelexport_api.status import Progress, Stage
from modelexport_operator import items, names
from modelexport_operator.client import CONFLICT, NOT_FOUND, ApiError
from modelexport_operator.observe import ObservedResource
from modelexport_operator.pods import LogTail, ObservedPod

LINES = 20
INTERVAL = 2.0
READERS = 8
PODS_A_TURN = 8
"""Of one ModelExport."""
_LARGEST = 2**63
"""What the model's own code prints is no promise of ours: a peak beyond this is no number."""

log = logging.getLogger(__name__)


class Logs(Protocol):
    """The part of the API that progress needs."""

    async def log_tail(self, namespace: str, pod: str, container: str, lines: int) -> str:
        """Read the last lines of a log."""

    async def apply_status(
        self, metadata: dict[str, Any], status: dict[str, Any], manager: str, *, force: bool
    ) -> dict[str, Any]:
        """Apply fields of a status."""


def parse_tail(text: str) -> LogTail:
    """Return the last progress, the last counts and the last peak of memory in a piece of log."""
    progress, peak, share = None, None, None
    for line in text.splitlines():
        entry = parse_log_line(line)
        if entry is None:
            continue
        progress = entry.progress or progress
        share = entry.share if items.plausible(entry.share) else share
        told = entry.fields.get("peakMemoryBytes")
        peak = told if isinstance(told, int) and 0 < told < _LARGEST else peak
    return LogTail(progress, peak, share)


async def read_tail(api: Logs, namespace: str, pod: str) -> LogTail:
    """Return what the pod said last; nothing when its log cannot be read."""
    try:
        return parse_tail(await api.log_tail(namespace, pod, CONTAINER, LINES))
    except ApiError as error:
        log.debug("no log of pod %s/%s: %s", namespace, pod, error)
        return LogTail()


@dataclass
class Followed:
    """An export whose pods are read, and what they told."""

    namespace: str
    name: str
    progress: Progress | None
    """As it was written last; so are the items."""
    items: Items | None
    stage_since: float
    running: dict[str, int | None] = field(default_factory=dict)
    """Pods that run, and their indexes."""
    over: dict[int, ShareCounts] = field(default_factory=dict)
    """Shares of pods that have ended."""
    told: dict[str, ShareCounts] = field(default_factory=dict)
    last: Progress | None = None
    turn: int = 0

    def take(self, pods: tuple[ObservedPod, ...]) -> None:
        """Take in which pods run now, and what those that ended had said."""
        known = items.known(pods).shares
        self.running = {pod.name: pod.index for pod in pods if pod.running}
        for pod in pods:
            last = None if pod.running else self.told.pop(pod.name, None)
            if last is not None and pod.index is not None:
                best = self.over.get(pod.index)
                self.over[pod.index] = items.farther(best, last.model_copy(update={"running": 0}))
        for index, share in known.items():
            self.over[index] = items.farther(self.over.get(index), share)

    def next_pods(self) -> list[str]:
        """Return the pods whose turn it is."""
        names_of = list(self.running)
        begin = self.turn % max(1, len(names_of))
        self.turn += PODS_A_TURN
        return [*names_of[begin:], *names_of[:begin]][:PODS_A_TURN]

    def hear(self, pod: str, tail: LogTail) -> None:
        """Take in what a pod said."""
        self.last = tail.progress or self.last
        if tail.share is not None:
            self.told[pod] = tail.share

    def now(self) -> tuple[Progress | None, Items | None]:
        """Return progress and counts as they are known now."""
        shares = dict(self.over)
        for pod, index in self.running.items():
            told = self.told.get(pod)
            if index is not None and told is not None:
                shares[index] = items.farther(shares.get(index), told)
        counts = items.summed(shares)
        return (items.progress(counts, self.last) if counts else self.last), counts


class Tracker:
    """Follows the pods that run."""

    def __init__(
        self,
        api: Logs,
        log_qps: float,
        stage_done: Callable[[Stage, float], None],
        written: Callable[[dict[str, Any]], object],
    ) -> None:
        self._api = api
        self._qps = log_qps
        self._stage_done = stage_done
        self._written = written
        self._followed: dict[str, Followed] = {}

    def follow(self, resource: ObservedResource, pods: tuple[ObservedPod, ...]) -> None:
        """Read the logs of those of these pods that run from now on."""
        known = self._followed.get(resource.uid)
        if known is None:
            stored = resource.status
            known = Followed(
                resource.namespace, resource.name, stored.progress, stored.items, time.monotonic()
            )
            self._followed[resource.uid] = known
        known.take(pods)

    def forget(self, uid: str) -> None:
        """Stop reading: no pod runs any more."""
        self._followed.pop(uid, None)

    async def rest(self, resource: ObservedResource) -> None:
        """Stop reading, and take back that anything is in work: the export is held back."""
        self.forget(resource.uid)
        counts = resource.status.items
        if resource.status.progress is None and not (counts and counts.running):
            return
        meta = {"namespace": resource.namespace, "name": resource.name, "uid": resource.uid}
        status = {"items": items.at_rest(counts).to_wire()} if counts else {}
        self._written(
            await self._api.apply_status(meta, status, names.PROGRESS_MANAGER, force=False)
        )

    async def run(self) -> None:
        """Read in turn, for ever."""
        while True:
            started = time.monotonic()
            gate = asyncio.Semaphore(READERS)
            counts = await asyncio.gather(*(self.read(gate, key) for key in list(self._followed)))
            pause = max(INTERVAL, sum(counts) / self._qps) - (time.monotonic() - started)
            await asyncio.sleep(max(0.1, pause))

    async def read(self, gate: asyncio.Semaphore, uid: str) -> int:
        """Read some pods of one export and write what is new; return how many were read."""
        async with gate:
            followed = self._followed.get(uid)
            if followed is None:
                return 0
            pods = followed.next_pods()
            for pod in pods:
                followed.hear(pod, await read_tail(self._api, followed.namespace, pod))
            progress, counts = followed.now()
            new = (progress, counts) != (followed.progress, followed.items)
            if new and progress is not None and self._followed.get(uid) is followed:
                await self._write(uid, followed, progress, counts)
            return len(pods)

    async def _write(
        self, uid: str, followed: Followed, progress: Progress, counts: Items | None
    ) -> None:
        metadata = {"namespace": followed.namespace, "name": followed.name, "uid": uid}
        status = {"progress": progress.to_wire(), **({"items": counts.to_wire()} if counts else {})}
        try:
            body = await self._api.apply_status(
                metadata, status, names.PROGRESS_MANAGER, force=False
            )
        except ApiError as error:
            if error.status in {CONFLICT, NOT_FOUND}:  # it has ended, or is gone
                self.forget(uid)
            else:
                log.warning("progress of %s not written: %s", followed.name, error)
            return
        self._written(body)
        before, now = followed.progress, time.monotonic()
        if counts is None and before is not None and before.stage != progress.stage:
            self._stage_done(before.stage, now - followed.stage_since)
        if before is None or before.stage != progress.stage:
            followed.stage_since = now
        followed.progress, followed.items = progress, counts
